package receive

import (
	"sync"
	"testing"

	"sixnines/internal/integrity"
)

// Of a damaged and a whole copy of a message, which two consumers of a group get at once, one is a copy: the damaged
// one alone counts as the message only until the whole one is there.
func TestADamagedCopyAndAWholeOneAtOnce(t *testing.T) {
	for number := range uint64(2000) {
		var d damages
		var both sync.WaitGroup
		ledger := integrity.NewLedger(0)
		var first, was bool
		both.Go(func() { first = d.add(number, 1, ledger) })
		ledger.Mark(number)
		was = d.whole(number)
		if both.Wait(); first != was {
			t.Fatalf("message %d: the damaged one came first: %v, and the whole one later: %v", number, first, was)
		}
	}
}

// Damaged deliveries of a message are told apart by the instants that they name.
func TestClaims(t *testing.T) {
	var d damages
	ledger := integrity.NewLedger(0)
	ledger.Mark(7)
	for _, x := range []struct {
		number   uint64
		intended int64
		first    bool
	}{{5, 50, true}, {5, 50, false}, {5, 51, false}, {7, 70, false}} {
		if first := d.add(x.number, x.intended, ledger); first != x.first {
			t.Errorf("message %d of %d: %v", x.number, x.intended, first)
		}
	}
	if d.claims[5].Deliveries != 2 || d.claims[7].Deliveries != 1 || !d.whole(5) || d.whole(5) || d.whole(7) || d.whole(6) {
		t.Errorf("%+v %+v", d.claims[5], d.claims[7])
	}
}
