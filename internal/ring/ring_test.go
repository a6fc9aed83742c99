package ring

import (
	"runtime"
	"sync"
	"testing"
)

// What several goroutines put is taken once each, and of each in its order.
func TestRing(t *testing.T) {
	const senders, each = 4, 20_000
	r := New(senders)
	free := make([]chan struct{}, senders) // a sender has one number out at a time
	var sending sync.WaitGroup
	for s := range senders {
		free[s] = make(chan struct{}, 1)
		free[s] <- struct{}{}
		sending.Go(func() {
			for i := range each {
				<-free[s]
				r.Put(uint32(s*each + i))
			}
		})
	}
	next := [senders]int{}
	for taken := 0; taken < senders*each; {
		n, ok := r.Take()
		if !ok {
			runtime.Gosched()
			continue
		}
		s, i := int(n)/each, int(n)%each
		if next[s] != i {
			t.Fatalf("sender %d: %d came instead of %d", s, i, next[s])
		}
		next[s]++
		taken++
		free[s] <- struct{}{}
	}
	sending.Wait()
	if n, ok := r.Take(); ok {
		t.Errorf("%d is left", n)
	}
}
