package engine

import (
	"context"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// completion tells a closed loop that a message was answered.
type completion struct {
	seq uint64
	at  int64
	st  *stream
}

// waiter is what the completions of one stream go to.
type waiter struct {
	st    *stream
	ready chan completion // shared by the streams of a producer
}

// complete is called once per message from any goroutine. The channel has room
// for twice what may be outstanding; what timed out and comes late after all
// may find it full and is not waited for any more.
func (w *waiter) complete(seq uint64, at int64) {
	select {
	case w.ready <- completion{seq, at, w.st}:
	default:
	}
}

// outstanding is a message that a closed loop waits for.
type outstanding struct {
	st   *stream
	seq  uint64
	sent int64
}

// closed has each producer wait for answers: so many messages outstanding, and the
// next one due when one is answered.
type closed struct{ *load }

func (c closed) mode() string { return result.ModeClosed }

// prepare: the loops go on through the warm-up.
func (c closed) prepare(context.Context) (ahead time.Duration, err error) { return c.warmup, nil }

// finish: each loop ends by itself.
func (c closed) finish(aborted bool) bool { return aborted }

// start starts a goroutine for each producer.
func (c closed) start() {
	ld := c.load
	owner := -1
	for _, st := range ld.streams {
		if st.plan.producer == owner {
			continue
		}
		owner = st.plan.producer
		ld.senders.Go(func() {
			if ld.part.From > 0 && !ld.sleepUntil(ld.start.Load()) {
				return
			}
			ld.loop(st.plan.producer, st.waiter.ready, &ld.left)
			ld.past.Add(1)
		})
	}
}

// loop is the closed loop of one producer: so many messages outstanding, the
// next one due when one is answered, plus the think time. It shows what a tool
// that waits would have reported; it omits what users would have waited.
func (ld *load) loop(producer int, ready chan completion, limit *quota) {
	ids := ld.layout.byProducer[producer]
	think := int64(ld.workload.Think)
	timeout := int64(ld.workload.Timeout)
	var waiting []outstanding
	due := make([]int64, 0, ld.workload.Outstanding)
	for range ld.workload.Outstanding {
		due = append(due, clock.Now())
	}
	check := time.NewTicker(max(time.Millisecond, ld.workload.Timeout/16))
	defer check.Stop()
	measured := false
	for turn := 0; ; {
		for len(due) > 0 {
			intended, ok := ld.thought(due[0] + think)
			if !ok {
				return
			}
			// Of two answers the earlier may be told later: once the window has
			// begun, what is due belongs to it.
			if start := ld.start.Load(); measured {
				intended = max(intended, start)
			} else {
				measured = intended >= start
			}
			if intended >= ld.end.Load() || measured && !limit.take() {
				return
			}
			due = due[1:]
			st := ld.streams[ids[turn%len(ids)]]
			turn++
			l := st.lane
			sl, index := l.takeShared()
			for sl == nil { // the client still holds what timed out
				if !ld.sleepUntil(clock.Now() + placePoll) {
					return
				}
				sl, index = l.takeShared()
			}
			if measured && !st.begun {
				st.begin()
			}
			seq := st.next
			sent := clock.Now()
			waiting = append(waiting, outstanding{st, seq, sent})
			if l.transmit(st, sl, index, integrity.Data, intended, sent, sent-intended, measured, nil) == nil && measured {
				l.shard.Lag(sent-intended, 0)
			}
			if st.flusher != nil {
				_ = st.flusher.Flush() // a failure shows in the sends that follow
			}
		}
		select {
		case c := <-ready:
			for i, o := range waiting {
				if o.st == c.st && o.seq == c.seq {
					waiting = append(waiting[:i], waiting[i+1:]...)
					due = append(due, c.at)
					break
				}
			}
		case <-check.C:
			now := clock.Now()
			kept := waiting[:0]
			for _, o := range waiting {
				if now-o.sent > timeout {
					o.st.lane.timedOut.Add(1)
					due = append(due, now)
				} else {
					kept = append(kept, o)
				}
			}
			waiting = kept
		case <-ld.stop:
			return
		}
	}
}

// takeShared is slots.take for the producers of a closed loop, several of which
// may share a connection, each on a goroutine of its own.
func (l *lane) takeShared() (*slot, uint32) {
	l.taking.Lock()
	defer l.taking.Unlock()
	sl, i := l.slots.take()
	if sl != nil && l.slots.rotate {
		// A slot in rotation is free until it is sent: the others' turn may
		// come round before that.
		sl.state.Store(sl.state.Load() | slotBorrowed)
	}
	return sl, i
}

// Waits of thinking users.
const (
	// timerLate is how late Go's timers come at the most where nothing else is
	// busy: they count in milliseconds.
	timerLate = 1_500_000 // ns
	// mostThinkers bounds those who wait for the end of their think time in the
	// kernel, each with a thread.
	mostThinkers = 64
)

// thought waits until think time is over at t, and returns when the message is
// due; false if the run is over. A timer that comes late makes a user think for
// longer, and nobody waits for a message that is still being thought of: it is due
// when the thinking ended. So that this is as long as was asked for, the last
// stretch is slept in the kernel, as far as there are threads for it. What was to
// be sent before, while the producer was busy with another message, is late.
func (ld *load) thought(t int64) (due int64, ok bool) {
	now := clock.Now()
	if now >= t {
		return t, !ld.stopped.Load()
	}
	if !ld.sleepUntil(t - timerLate) {
		return 0, false
	}
	defer ld.thinkers.Add(-1)
	if ld.thinkers.Add(1) <= mostThinkers && clock.Now() < t {
		clock.SleepUntilHandingOver(t)
	}
	if !ld.sleepUntil(t) {
		return 0, false
	}
	return max(t, clock.Now()), true
}
