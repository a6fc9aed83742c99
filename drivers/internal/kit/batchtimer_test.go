package kit

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// batch counts what the timer has flushed.
type batch struct {
	mu      sync.Mutex
	hold    BatchTimer
	held    int
	flushed int
}

func newBatch() *batch {
	b := new(batch)
	b.hold = NewBatchTimer(&b.mu, func() {
		b.flushed += b.held
		b.empty()
	})
	return b
}

func (b *batch) add() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held++
	b.hold.Hold()
}

// empty is called with mu held.
func (b *batch) empty() {
	b.held = 0
	b.hold.Emptied()
}

func (b *batch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.empty()
}

// want lets time pass, the bubble's, and looks at what was flushed.
func (b *batch) want(t *testing.T, after time.Duration, flushed int) {
	t.Helper()
	time.Sleep(after)
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.flushed != flushed {
		t.Errorf("%v later %d were flushed, want %d", after, b.flushed, flushed)
	}
}

func TestNobodyFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch()
		b.add()
		b.add()
		b.want(t, batchMost-1, 0)
		b.want(t, 1, 2)
		b.want(t, time.Hour, 2)
		b.add()
		b.want(t, batchMost, 3)
	})
}

func TestSomebodyFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch()
		b.add()
		b.flush()
		b.want(t, time.Hour, 0)
	})
}

// A batch that begins while the timer still runs for one before is left alone
// for as long as any other, and flushed within twice that.
func TestLaterBatch(t *testing.T) {
	for begins := time.Duration(0); begins < batchMost; begins += batchMost / 10 {
		synctest.Test(t, func(t *testing.T) {
			b := newBatch()
			b.add()
			time.Sleep(begins)
			b.flush()
			b.add()
			b.want(t, batchMost-1, 0)
			b.want(t, batchMost+1, 1)
		})
	}
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch()
		stop := func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.hold.Stop()
		}
		stop()
		b.add()
		stop()
		b.want(t, time.Hour, 0)
		b.add()
		b.want(t, 2*batchMost, 2)
	})
}

// TestStopWhileElapsing stops a timer that has run out and waits for the lock.
func TestStopWhileElapsing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch()
		b.add()
		b.mu.Lock()
		time.Sleep(batchMost)
		b.hold.Stop()
		b.mu.Unlock()
		b.want(t, time.Hour, 0)
		b.add()
		b.want(t, 2*batchMost, 2)
	})
}

func TestAllocatesNothing(t *testing.T) {
	b := newBatch()
	b.add()
	if n := testing.AllocsPerRun(100, func() {
		b.add()
		b.flush()
	}); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
