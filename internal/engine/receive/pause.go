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
// before. The goroutine of its act calls Do and Undo, consumers wait.
type Pause struct {
	from, until atomic.Int64  // CLOCK_MONOTONIC; window.Never until Do arms it. Undo may move until to sooner
	over        chan struct{} // closed by Undo when that ends the pause
	// blocked and resumed are set by the first consumer that the pause blocks, and the first that goes
	// on: only these two read the backlog.
	blocked, resumed atomic.Bool
	hold             func() int64 // reads how much was sent and has come; safe for concurrent use
	length           time.Duration
}

func newPause(length time.Duration, hold func() int64) *Pause {
	p := &Pause{over: make(chan struct{}), hold: hold, length: length}
	p.from.Store(window.Never)
	p.until.Store(window.Never)
	return p
}

// armed is how long before its instant a pause is armed: consumers compare instants with it, so it
// begins exactly then.
const armed = 50 * time.Millisecond

// Ahead implements actions.Early.
func (p *Pause) Ahead() time.Duration { return armed }

// Do arms the pause, waits for its beginning at at, CLOCK_MONOTONIC, and returns when it began: at, or now
// if it was armed too late. It returns the context's error if that ends before.
func (p *Pause) Do(ctx context.Context, at int64) (happened int64, err error) {
	p.until.Store(at + int64(p.length)) // first: a consumer that reads the beginning also reads the end
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

// Undo ends the pause, unless it is over, and returns when it ended, CLOCK_MONOTONIC.
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
