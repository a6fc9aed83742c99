package clocktest

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/clock"
)

// All work of an instant is done before a Quiesce returns, and callers return in their order.
func TestQuiesce(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			b := New()
			if clock.Now() <= 0 {
				t.Fatalf("now is %d", clock.Now())
			}
			var mu sync.Mutex
			var done []int
			note := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				done = append(done, n)
			}
			var all sync.WaitGroup
			again := make(chan struct{})
			for order := range orders {
				for range 3 {
					all.Go(func() {
						time.Sleep(time.Second)
						b.Quiesce(order)
						note(order)
						if order == 1 {
							again <- struct{}{} // what this sets going comes before what is after it
						}
					})
				}
			}
			all.Go(func() {
				time.Sleep(time.Second)
				note(-1)
				for range 3 {
					<-again
					note(1)
				}
			})
			all.Wait()
			if want := []int{-1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3}; !slices.Equal(done, want) {
				t.Fatalf("%v", done)
			}
		})
	}
}
