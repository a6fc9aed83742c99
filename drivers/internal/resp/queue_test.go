package resp

import (
	"runtime"
	"sync"
	"testing"
)

// TestQueue sends commands through a queue that is long and short in turn.
func TestQueue(t *testing.T) {
	const n = 200_000
	q := newQueue()
	var taking sync.WaitGroup
	taking.Go(func() {
		for want := uint64(0); want < n; {
			c, ok := q.pop()
			switch {
			case !ok:
				runtime.Gosched()
			case c.token != want:
				t.Errorf("took %d instead of %d", c.token, want)
				return
			default:
				want++
			}
		}
	})
	for i := range uint64(n) {
		q.push(command{token: i})
	}
	taking.Wait()
	if _, ok := q.pop(); ok {
		t.Error("there is more than was added")
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	q := newQueue()
	round := func() {
		for range 10*chunkSize + 7 {
			q.push(command{})
		}
		for range 10*chunkSize + 7 {
			q.pop()
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n > 0 {
		t.Errorf("%v allocations for each round of %d commands", n, 10*chunkSize+7)
	}
}
