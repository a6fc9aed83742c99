package send

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
	"sixnines/internal/integrity"
	"sixnines/internal/spell"
	"sixnines/result"
)

// claimAtOnce is how many messages of a quota an unpaced loop takes at a time.
const claimAtOnce = 256

// sendUnpaced sends on one lane as fast as the client takes messages. The instant of sending
// is the intended one: there is no schedule, and so no response time. It returns when it ended,
// CLOCK_MONOTONIC: at the window's end, when the quota is used up, or when the run is stopped. The
// calling goroutine is the only one that sends on the lane.
func (l *lane) sendUnpaced(limit *window.Quota, measured bool) (ended int64) {
	if measured {
		for _, st := range l.Streams {
			st.Begin()
		}
	}
	turn := 0
	var left int64
	var sleeper window.Sleeper
	sleeper.Ready(l.plan.Life)
	for {
		if left == 0 {
			if left = limit.Claim(claimAtOnce); left == 0 || l.plan.Stopped.Load() {
				break
			}
		}
		if !l.Credits.Has() && !l.waitForCredit(&sleeper) {
			return clock.Now()
		}
		now := clock.Now()
		if now >= l.plan.End.Load() {
			break
		}
		left--
		st := l.Streams[turn]
		if turn++; turn == len(l.Streams) {
			turn = 0
		}
		sl := l.Credits.Take()
		if err := l.transmit(st, sl, departure{kind: integrity.Data, intended: now, sent: now, measured: measured}); err != nil {
			runtime.Gosched() // refused: let the client's goroutines run
		}
	}
	l.flush()
	return clock.Now()
}

// creditSpins is how often waitForCredit looks again at once: about as long as an
// answer of a fast broker takes. After that it sleeps: by spinning it would use the
// processor that the client or the broker needs to free a credit.
const creditSpins = 64

// waitForCredit waits until the lane has a slot and a credit. Messages that the client holds back
// go out first: without them no credit might come free. It returns false if the window or the run
// ends before: with a broker that no longer answers, a credit may never come free.
func (l *lane) waitForCredit(sleeper *window.Sleeper) bool {
	l.flush()
	for n := 0; !l.Credits.Has(); n++ {
		now, end := clock.Now(), l.plan.End.Load()
		switch {
		case l.plan.Stopped.Load() || now >= end:
			return false
		case n < creditSpins:
			runtime.Gosched()
		case n == creditSpins && l.Credits.Limit != 1 && l.plan.Virtual == nil || !l.plan.CanWake():
			clock.SleepUntilBlocking(now + creditPoll)
		default:
			sleeper.Woken() // a wake-up of an earlier wait must not end this one
			l.Credits.Free.Want(sleeper)
			if !l.Credits.Has() {
				sleeper.SleepUntil(min(now+creditWait, end), l.plan.Precise)
			}
		}
	}
	return true
}

// unpaced sends without a schedule: a warm-up, a pause until all of it is through, then
// the window, whose clock stops when everything measured is through.
type unpaced struct {
	*Sending
	delivered func() int64  // how many of the warm-up's messages were delivered so far
	mark      func()        // notes that number: later deliveries of the warm-up fall into the window
	done      chan struct{} // closed when all of the window is sent and the round trip is over, or the run is
	ended     int64         // when all was sent, CLOCK_MONOTONIC; written before done is closed, read after
}

// NewUnpaced returns what sends s without a schedule. delivered returns how many of the warm-up's
// messages were delivered, and mark notes that number.
func NewUnpaced(s *Sending, delivered func() int64, mark func()) *unpaced {
	return &unpaced{Sending: s, delivered: delivered, mark: mark, done: make(chan struct{})}
}

// Mode is that of result.Header.Mode.
func (u *unpaced) Mode() string { return result.ModeFlatOut }

// Prepare sends for as long as the warm-up is to last, and waits until its messages are answered and
// delivered. The error wraps plan.ErrAborted if the run is ended, and driver.ErrTimeout if a send
// hangs; or it is what the broker refused, or that of a round trip.
func (u *unpaced) Prepare(ctx context.Context) (ahead time.Duration, err error) {
	if u.Warmup > 0 {
		u.End.Store(clock.Now() + int64(u.Warmup))
		done := make(chan struct{})
		u.Senders.Go(func() {
			u.sendAll(&window.Quota{}, false)
			close(done)
		})
		select {
		case <-done:
			err = u.awaitWarmup()
		case <-u.Refused:
			err = u.RefusedEarly()
		case <-ctx.Done():
			err = fmt.Errorf("%w in the warm-up", plan.ErrAborted)
		case <-u.Abort:
			err = fmt.Errorf("%w in the warm-up", plan.ErrAborted)
		case <-time.After(u.Warmup + u.Scenario.Phases.Drain):
			err = fmt.Errorf("%w: a message of the warm-up could not be sent for %s; the broker may be overloaded or hanging",
				driver.ErrTimeout, spell.Period(u.Scenario.Phases.Drain))
		}
		if err != nil {
			window.Lower(&u.End, clock.Now()) // no more is sent
			return 0, err
		}
	}
	runtime.GC()
	u.markWarm()
	return 0, nil
}

// markWarm notes how many of the warm-up's messages were delivered and acknowledged. Those that come
// later take from the window's time.
func (u *unpaced) markWarm() {
	u.mark()
	u.WarmedUp = u.Warm()
}

// Start starts a goroutine that waits for the window, sends all of it, reports that it is past it, and
// waits for the round trip.
func (u *unpaced) Start() {
	u.Senders.Go(func() {
		defer close(u.done)
		if u.Precise.Until(u.Plan.Start.Load(), u.Stop) {
			u.markWarm() // again: the warm-ups of other loads came in between
			u.ended = u.sendAll(&u.Left, true)
		} else {
			u.ended = clock.Now()
		}
		u.Past.Store(int64(u.Several))
		u.SignalPast()
		u.roundTrip()
	})
}

// roundTrip waits, where nothing is acknowledged, for the round trip with which the
// clock stops: of each load when that has sent all, and not when the others have.
func (u *unpaced) roundTrip() {
	if u.Flow.Acked || u.NeverBegan() || u.Stopped.Load() {
		return
	}
	at, err := u.sync()
	if u.Synced = at; err != nil && !u.Stopped.Load() {
		u.Event(result.Event{At: clock.Now(), Kind: result.EventError, Detail: "no round trip after the last message: " + err.Error()})
	}
}

// Finish waits until all is sent, for the drain limit at most: a send that hangs ends when its
// connection is closed. The clock stops with a round trip, or with the last acknowledgement where
// messages are acknowledged.
func (u *unpaced) Finish(aborted bool) bool {
	if aborted || u.NeverBegan() {
		return aborted
	}
	select {
	case <-u.done:
		window.Lower(&u.End, u.ended)
	case <-u.Abort:
		return true
	case <-time.After(u.Scenario.Phases.Drain):
	}
	return false
}

// sendAll sends on all lanes until the window ends, or the quota is used up, and returns one ns after the
// last lane had ended, CLOCK_MONOTONIC: a message sent at that instant is then part of the window.
func (u *unpaced) sendAll(limit *window.Quota, measured bool) int64 {
	var lanes sync.WaitGroup
	ended := make([]int64, len(u.Lanes))
	for i, l := range u.Lanes {
		lanes.Go(func() { ended[i] = l.sendUnpaced(limit, measured) })
	}
	lanes.Wait()
	return slices.Max(ended) + 1
}

// sync waits for a round trip on every producer that can do one, and returns when the last was back,
// CLOCK_MONOTONIC; 0: one failed, or no producer can do one. It waits for the drain limit at most.
func (u *unpaced) sync() (at int64, err error) {
	life, over := u.Context()
	defer over()
	ctx, cancel := context.WithTimeout(life, u.Scenario.Phases.Drain)
	defer cancel()
	for _, st := range u.Streams {
		if s, ok := st.Producer.(driver.Syncer); ok {
			if err := s.Sync(ctx); err != nil {
				return 0, err
			}
			at = clock.Now()
		}
	}
	return at, nil
}

// awaitWarmup waits until the warm-up's messages are through: a round trip, and no
// more deliveries.
func (u *unpaced) awaitWarmup() error {
	if _, err := u.sync(); err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	var before int64 = -1
	for deadline := time.Now().Add(u.Scenario.Phases.Drain); time.Now().Before(deadline); {
		u.Quiesce(window.OrderRun)
		marked := u.delivered()
		if marked == before && u.idle() {
			return nil
		}
		before = marked
		time.Sleep(max(20*time.Millisecond, 2*u.Workload.Consumer.Work)) // a consumer at work takes no delivery meanwhile
	}
	return nil // a backlog longer than the drain limit: the window begins with it, which the throughput shows
}

// idle reports whether nothing is in flight, and everything is acknowledged where anything is.
func (u *unpaced) idle() bool {
	if u.Flow.Acked && u.Lent() {
		return false
	}
	for _, l := range u.Lanes {
		if l.Credits.InFlight.Load() > 0 {
			return false
		}
	}
	return true
}
