package observe

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"sixnines/internal/recorder"
)

// A tail keeps the slowest messages, whatever comes and from however many goroutines at once,
// and allocates nothing.
func TestTailKeepsTheSlowest(t *testing.T) {
	tl := newTail(recorder.DeliveryResponse)
	const writers, each = 4, 20_000
	var all []int64
	var wg sync.WaitGroup
	parts := make([]*TailShard, writers)
	for w := range writers {
		parts[w] = tl.Part([]int{0, 1, 1, 2}[w], true) // one has a part for itself
	}
	for w := range writers {
		rng := rand.New(rand.NewPCG(uint64(w), 7))
		values := make([]int64, each)
		for i := range values {
			values[i] = rng.Int64N(1 << 40)
		}
		all = append(all, values...)
		wg.Go(func() {
			s := parts[w]
			for i, v := range values {
				if v > s.Floor.Load() {
					s.Offer(&Exemplar{Value: v, Seq: uint64(i)})
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	for i, e := range tl.Slowest() {
		if e.Value != all[i] {
			t.Fatalf("the slowest but %d is %d, want %d", i, e.Value, all[i])
		}
	}
	next := int64(1 << 41)
	if n := testing.AllocsPerRun(1000, func() { next++; tl.shards[0].Offer(&Exemplar{Value: next}) }); n != 0 {
		t.Errorf("%v allocations an exemplar", n)
	}
}
