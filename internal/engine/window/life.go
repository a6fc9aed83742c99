package window

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
)

// Life is whether a run is over, and how its goroutines wait until an instant or until that.
// Its methods are safe for concurrent use.
type Life struct {
	// Virtual, if not nil, has the run be in virtual time. It is fixed.
	Virtual Virtual
	Precise *clock.Precise // waits more precisely than Go's timers, for goroutines without a thread of their own; fixed

	// StopAll sets Stopped and then closes Stop. Goroutines that look now and then read the one, those
	// that wait select on the other.

	Stopped  atomic.Bool
	Stop     chan struct{}
	stopOnce sync.Once
}

// NewLife returns the life of a run that is not over, in real time if v is nil.
func NewLife(v Virtual) *Life {
	l := &Life{Virtual: v, Precise: clock.NewPrecise(kernelSleepers), Stop: make(chan struct{})}
	if v != nil {
		l.Precise = clock.NewPrecise(0)
	}
	return l
}

// StopAll has senders, and what watches them, stop. It does not wait for them.
func (l *Life) StopAll() {
	l.stopOnce.Do(func() {
		l.Stopped.Store(true)
		close(l.Stop)
	})
}

// Context returns a context that ends with the run. The caller must call the function when it needs the
// context no more: a goroutine waits for that, or for the run's end.
func (l *Life) Context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-l.Stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Slice is the longest that a waiting goroutine sleeps at a time, in ns, so that it notices the end of
// the run.
const Slice = 20_000_000

// SleepUntil waits until t, CLOCK_MONOTONIC, with the precision of Go's timers; false if the run is over.
func (l *Life) SleepUntil(t int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if l.Stopped.Load() {
			return false
		}
		time.Sleep(time.Duration(min(t-now, Slice)))
	}
	return !l.Stopped.Load()
}
