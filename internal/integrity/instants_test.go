package integrity

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Instants are exact, whoever sets them in what order, until the budget is used up.
func TestInstants(t *testing.T) {
	var budget atomic.Int64
	budget.Store(3)
	x, other := NewInstants(&budget), NewInstants(&budget)
	const first = 5*chunkSpan + 7
	var all sync.WaitGroup
	for w := range uint64(4) {
		all.Go(func() {
			for seq := first + w; seq < first+chunkSpan; seq += 4 {
				x.Set(seq, int64(seq)+1)
			}
		})
	}
	all.Wait()
	for seq := uint64(first); seq < first+chunkSpan; seq++ {
		if at, ok := x.At(seq); !ok || at != int64(seq)+1 {
			t.Fatalf("%d: %d, %v", seq, at, ok)
		}
	}
	if _, ok := x.At(first - 1); ok {
		t.Error("a number that was not set has an instant")
	}
	other.Set(1, 9) // the last chunk of the budget
	other.Set(chunkSpan, 9)
	if _, ok := other.At(chunkSpan); ok || budget.Load() != 0 {
		t.Errorf("beyond the budget, of which %d chunks are left", budget.Load())
	}
	if at, ok := other.At(1); !ok || at != 9 {
		t.Errorf("the last chunk has %d, %v", at, ok)
	}
	if n := testing.AllocsPerRun(100, func() { other.Set(2, 9); other.Set(chunkSpan, 9) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
