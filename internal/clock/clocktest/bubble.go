// Package clocktest is for tests in virtual time.
package clocktest

import (
	"sync"
	"testing/synctest"
	"time"
)

// orders is how many orders [Bubble.Quiesce] has.
const orders = 4

// Bubble is a testing/synctest bubble as whatever runs in it sees it. Its method is safe for
// concurrent use by the bubble's goroutines, which call synctest.Wait in no other way
// meanwhile: only one of them may at a time.
type Bubble struct {
	turn chan struct{} // has a value while somebody waits for the others

	mu      sync.Mutex
	waiting [orders]int
}

// New returns the bubble of the calling goroutine. Its clock goes on to the year 2100 if it
// is not there: it begins in 2000, before this process did, where instants are negative.
func New() *Bubble {
	time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
	return &Bubble{turn: make(chan struct{}, 1)}
}

// Quiesce returns when all goroutines of the bubble wait: all is done that is done at this
// instant. Of several callers those of a lower order, from 0 to 3, go on first, each when
// the one before waits again.
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
