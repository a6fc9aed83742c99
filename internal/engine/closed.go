package engine

import (
	"context"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// outstanding is a message that a closed loop waits for.
type outstanding struct {
	st       *stream
	seq      uint64
	sent     int64
	measured bool
}

// closed has each producer wait for answers: so many messages outstanding, and the
// next one due when one is answered.
type closed struct {
	*sending
}

func (c *closed) mode() string { return result.ModeClosed }

// prepare: the loops go on through the warm-up.
func (c *closed) prepare(context.Context) (ahead time.Duration, err error) { return c.Warmup, nil }

// finish: each loop ends by itself.
func (c *closed) finish(aborted bool) bool { return aborted }

// start starts a goroutine for each producer.
func (c *closed) start() {
	owner := -1
	for _, st := range c.streams {
		if st.plan.Producer == owner {
			continue
		}
		owner = st.plan.Producer
		c.senders.Go(func() {
			if c.Part.From > 0 && !c.SleepUntil(c.Plan.Start.Load()) {
				return
			}
			c.loop(st.plan.Producer, st.waiter.ready, &c.left)
			c.past.Add(1)
		})
	}
}

// loop is the closed loop of one producer: so many messages outstanding, the
// next one due when one is answered, plus the think time. It shows what a tool
// that waits would have reported; it omits what users would have waited.
func (c *closed) loop(producer int, ready chan completion, limit *window.Quota) {
	ids := c.Layout.ByProducer[producer]
	think := int64(c.Workload.Think)
	timeout := int64(c.Workload.Timeout)
	var waiting []outstanding
	due := make([]int64, 0, c.Workload.Outstanding)
	for range c.Workload.Outstanding {
		due = append(due, clock.Now())
	}
	check := time.NewTicker(max(time.Millisecond, c.Workload.Timeout/16))
	defer check.Stop()
	measured := false
	for turn := 0; ; {
		for len(due) > 0 {
			intended, ok := c.thought(due[0] + think)
			if !ok {
				return
			}
			// Of two answers the earlier may be reported later: once the window has
			// begun, the next message belongs to it.
			if start := c.Plan.Start.Load(); measured {
				intended = max(intended, start)
			} else {
				measured = intended >= start
			}
			if intended >= c.End.Load() || measured && !limit.Take() {
				return
			}
			due = due[1:]
			st := c.streams[ids[turn%len(ids)]]
			turn++
			l := st.lane
			sl, index := l.takeShared()
			for sl == nil { // the client still holds what timed out
				if !c.SleepUntil(clock.Now() + placePoll) {
					return
				}
				sl, index = l.takeShared()
			}
			if measured && !st.begun {
				st.begin()
			}
			seq := st.next
			sent := clock.Now()
			waiting = append(waiting, outstanding{st, seq, sent, measured})
			if l.transmit(st, sl, index, integrity.Data, intended, sent, sent-intended, measured, nil) == nil && measured {
				l.shard.Lag(sent-intended, 0, intended-c.Plan.Start.Load())
			}
			if st.flusher != nil {
				_ = st.flusher.Flush() // a failure shows in the sends that follow
			}
		}
		select {
		case a := <-ready:
			waiting, due = answered(waiting, due, a)
		case <-check.C:
			c.Quiesce(window.OrderLoad)
			for len(ready) > 0 { // answers that came while the loop slept or sent
				waiting, due = answered(waiting, due, <-ready)
			}
			now := clock.Now()
			kept := waiting[:0]
			for _, o := range waiting {
				if now-o.sent > timeout {
					o.st.waiter.lapsed.Store(o.seq + 1) // what was sent sooner has been answered, or has lapsed
					if o.measured {
						o.st.lane.timedOut.Add(1)
					}
					due = append(due, now)
				} else {
					kept = append(kept, o)
				}
			}
			waiting = kept
		case <-c.Stop:
			return
		}
	}
}

// answered takes a message that was answered out of those that are waited for. The next
// one is due with the answer.
func answered(waiting []outstanding, due []int64, a completion) ([]outstanding, []int64) {
	for i, o := range waiting {
		if o.st == a.st && o.seq == a.seq {
			return append(waiting[:i], waiting[i+1:]...), append(due, a.at)
		}
	}
	return waiting, due
}

// takeShared is slots.take for the producers of a closed loop, several of which
// may share a connection, each on a goroutine of its own.
func (l *lane) takeShared() (*slot, uint32) {
	l.taking.Lock()
	defer l.taking.Unlock()
	sl, i := l.slots.take()
	if sl != nil && l.slots.rotate {
		// A slot in rotation is free until it is sent: other producers may take
		// it before that.
		sl.state.Store(sl.state.Load() | slotBorrowed)
	}
	return sl, i
}

// thought waits until think time is over at t, and returns when the message is
// due; false if the run is over. If the timer comes late, the user thinks for longer,
// and no message is late: it is due when the thinking has ended. If think time ended while the
// producer was busy with another message, the message is late.
func (c *closed) thought(t int64) (due int64, ok bool) {
	now := clock.Now()
	if now >= t {
		return t, !c.Stopped.Load()
	}
	if !c.Precise.Until(t, c.Stop) {
		return 0, false
	}
	return max(t, clock.Now()), !c.Stopped.Load()
}
