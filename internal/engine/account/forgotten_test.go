package account

import (
	"testing"

	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
)

// Of a gap it is not known which messages are missing: as many as were not answered may be among them, and the others
// are acknowledged.
func TestAcknowledgedInAGap(t *testing.T) {
	g := integrity.Gap{From: 100, To: 200, Missing: 10}
	for _, tt := range []struct{ unanswered, nacked, open, want int64 }{
		{0, 0, 10, 10}, {1, 0, 10, 9}, {4, 3, 10, 9}, {10, 0, 10, 0}, {60, 0, 10, 0}, {0, 0, 0, 0},
	} {
		st := &stream.Stream{Acked: integrity.NewLedger(0)}
		for n := uint64(0); n < 300; n++ {
			switch i := int64(n) - 120; {
			case i >= 0 && i < tt.nacked:
				st.Nacked.Add(n)
			case i < 0 || i >= tt.unanswered:
				st.Acked.Mark(n)
			}
		}
		if n := acknowledged(st, g, tt.open); n != tt.want {
			t.Errorf("%+v: %d", tt, n)
		}
	}
	if n := acknowledged(&stream.Stream{}, g, 10); n != 0 {
		t.Errorf("without acknowledgements: %d", n)
	}
}
