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
	// Virtual, if not nil, has the run be in virtual time.
	Virtual Virtual
	Precise *clock.Precise // for goroutines without a thread of their own

	Stopped  atomic.Bool
	Stop     chan struct{} // closed with stopped
	stopOnce sync.Once
}

// NewLife returns that of a run that is not over.
func NewLife(v Virtual) *Life {
	l := &Life{Virtual: v, Precise: clock.NewPrecise(kernelSleepers), Stop: make(chan struct{})}
	if v != nil {
		l.Precise = clock.NewPrecise(0)
	}
	return l
}

// StopAll tells senders and what watches them to stop.
func (l *Life) StopAll() {
	l.stopOnce.Do(func() {
		l.Stopped.Store(true)
		close(l.Stop)
	})
}

// Context returns a context that ends with the run.
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

// Slice is how long a waiting goroutine sleeps at a time, in ns, so that the
// end of the run is noticed.
const Slice = 20_000_000

// SleepUntil waits without pacing's precision; false if the run is over.
func (l *Life) SleepUntil(t int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if l.Stopped.Load() {
			return false
		}
		time.Sleep(time.Duration(min(t-now, Slice)))
	}
	return !l.Stopped.Load()
}
