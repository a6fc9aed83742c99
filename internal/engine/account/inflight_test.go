package account

import (
	"testing"

	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/send"
	"sixnines/result"
)

// The number of messages in flight is right in a long run with a large fan-out, too: the
// product of deliveries and messages exceeds 63 bits.
func TestInFlightOfMany(t *testing.T) {
	a := &Accounts{Plan: &plan.Plan{}, Sending: &send.Sending{}}
	const sent, fanOut = 1_000_000_000, 100
	for _, received := range []int64{0, sent * fanOut / 4, sent * fanOut, sent*fanOut + 1} {
		want := max(0, sent-received/fanOut)
		if n := a.inFlight(result.Counters{Sent: sent, Expected: sent * fanOut, Received: received}); n != want {
			t.Errorf("%d in flight with %d deliveries, want %d", n, received, want)
		}
	}
}
