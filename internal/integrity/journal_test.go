package integrity

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// Each number that is ticked off is among the news once, whatever leaves the ring between two calls, and also while
// others tick off.
func TestNewsHasEachNumberOnce(t *testing.T) {
	for name, order := range map[string]func(r *rand.Rand, i int) uint64{
		"in order":   func(_ *rand.Rand, i int) uint64 { return uint64(i) },
		"with gaps":  func(_ *rand.Rand, i int) uint64 { return uint64(i) * 3 },
		"scattered":  func(r *rand.Rand, i int) uint64 { return uint64(max(0, i+r.IntN(40_000)-20_000)) },
		"backwards":  func(_ *rand.Rand, i int) uint64 { return 200_000 - uint64(i) },
		"everywhere": func(r *rand.Rand, _ int) uint64 { return r.Uint64N(1 << 22) },
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLedger(0)
			l.Journal()
			had := map[uint64]int{}
			take := func() {
				l.News(func(from uint64, words []uint64) {
					for i, w := range words {
						for b := range uint64(64) {
							if w>>b&1 != 0 {
								had[from+uint64(i)*64+b]++
							}
						}
					}
				})
			}
			const each = 50_000
			marked := make([][]uint64, 2)
			var all sync.WaitGroup
			for k := range marked {
				all.Go(func() {
					r := rand.New(rand.NewPCG(uint64(k), 7))
					for i := range each {
						if n := order(r, i*2+k); l.Mark(n) == New {
							marked[k] = append(marked[k], n)
						}
					}
				})
			}
			done := make(chan struct{})
			go func() { all.Wait(); close(done) }()
			for over := false; !over; {
				select {
				case <-done:
					over = true
				default:
				}
				take()
			}
			want := 0
			for _, numbers := range marked {
				for _, n := range numbers {
					if want++; had[n] != 1 {
						t.Fatalf("%d came %d times", n, had[n])
					}
				}
			}
			if len(had) != want {
				t.Fatalf("%d numbers, and %d were ticked off", len(had), want)
			}
		})
	}
}
