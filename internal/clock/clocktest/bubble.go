// Package clocktest is for tests in virtual time.
package clocktest

import (
	"sync"
	"testing/synctest"
	"time"
)

// orders is how many orders [Bubble.Quiesce] has.
const orders = 4

// Bubble serialises synctest.Wait for the goroutines of a testing/synctest bubble, since only
// one goroutine at a time may call it. Quiesce is safe for concurrent use by the bubble's
// goroutines, which must not call synctest.Wait themselves meanwhile.
type Bubble struct {
	turn chan struct{} // holds a value while one goroutine is in synctest.Wait

	mu      sync.Mutex
	waiting [orders]int // callers of Quiesce by order; guarded by mu
}

// New returns the bubble of the calling goroutine. It advances the bubble's clock to the year
// 2100: a bubble's clock begins in 2000, before this process started, where instants are
// negative.
func New() *Bubble {
	time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
	return &Bubble{turn: make(chan struct{}, 1)}
}

// Quiesce returns when all other goroutines of the bubble are blocked, that is, when all work
// of this instant is done. If several goroutines call it, those of the lowest order (0 to 3)
// return first; the next returns when the one before is blocked again.
func (b *Bubble) Quiesce(order int) {
	b.count(order, 1)
	defer b.count(order, -1)
	for {
		b.turn <- struct{}{}
		synctest.Wait()
		first := b.first()
		<-b.turn
		if first >= order {
			return
		}
	}
}

func (b *Bubble) count(order, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[order] += n
}

// first is the lowest order of those that wait.
func (b *Bubble) first() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for order, n := range b.waiting {
		if n > 0 {
			return order
		}
	}
	return orders
}
