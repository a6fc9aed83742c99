package receive

import (
	"context"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
)

// Pause is a time in which the load's consumers take nothing. Consumers compare the instant
// of each message with it, so that it begins and ends exactly when it is to, if it was armed
// before.
type Pause struct {
	from, until      atomic.Int64  // CLOCK_MONOTONIC; both are far off until it is armed
	over             chan struct{} // closed when it ends sooner
	blocked, resumed atomic.Bool   // a consumer was, and the backlog was read
	hold             func() int64  // reads how much was sent and has come
	length           time.Duration
}

func newPause(length time.Duration, hold func() int64) *Pause {
	p := &Pause{over: make(chan struct{}), hold: hold, length: length}
	p.from.Store(window.Never)
	p.until.Store(window.Never)
	return p
}

// Do arms the pause, and returns when it has begun.
func (p *Pause) Do(ctx context.Context, at int64) (happened int64, err error) {
	p.until.Store(at + int64(p.length)) // first: who sees the beginning also sees the end
	p.from.Store(at)
	now := clock.Now()
	if now >= at {
		return now, nil
	}
	t := time.NewTimer(time.Duration(at - now))
	defer t.Stop()
	select {
	case <-t.C:
		return at, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Undo ends the pause, unless it is over.
func (p *Pause) Undo(context.Context) (happened int64, err error) {
	now := clock.Now()
	if window.Lower(&p.until, now) {
		close(p.over)
		return now, nil
	}
	return p.until.Load(), nil
}

// wait blocks a consumer until the pause is over, or the run.
func (p *Pause) wait(life *window.Life) {
	if p.blocked.CompareAndSwap(false, true) {
		p.hold()
	}
	t := time.NewTimer(time.Duration(p.until.Load() - clock.Now()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.over:
	case <-life.Stop:
	}
	if p.resumed.CompareAndSwap(false, true) {
		p.hold() // before anything of the backlog comes
	}
}
