package send

import (
	"context"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/stream"
	"sixnines/internal/engine/window"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// closed has each producer wait for answers: a fixed number of messages outstanding, and the
// next one due when one is answered.
type closed struct {
	*Sending
}

// NewClosed returns what sends s in closed loops.
func NewClosed(s *Sending) *closed { return &closed{s} }

// Mode is that of result.Header.Mode.
func (c *closed) Mode() string { return result.ModeClosed }

// Prepare: the loops go on through the warm-up.
func (c *closed) Prepare(context.Context) (ahead time.Duration, err error) { return c.Warmup, nil }

// Finish: each loop ends by itself.
func (c *closed) Finish(aborted bool) bool { return aborted }

// Start starts a goroutine for each producer.
func (c *closed) Start() {
	owner := -1
	for _, st := range c.Streams {
		if st.Plan.Producer == owner {
			continue
		}
		owner = st.Plan.Producer
		c.Senders.Go(func() {
			if c.Part.From > 0 && !c.SleepUntil(c.Plan.Start.Load()) {
				return
			}
			c.loop(st.Plan.Producer, st.Waiter.Ready, &c.Left)
			c.Past.Add(1)
		})
	}
}

// loop is the closed loop of one producer: a fixed number of messages outstanding, the
// next one due when one is answered, plus the think time. It shows what a tool
// that waits would have reported; it omits what users would have waited. The producer's streams, due
// and in belong to its goroutine; answers come from the client's goroutines by ready.
func (c *closed) loop(producer int, ready chan stream.Completion, limit *window.Quota) {
	ids := c.Layout.ByProducer[producer]
	think := int64(c.Workload.Think)
	timeout := int64(c.Workload.Timeout)
	in := credit.Loop{Ready: ready}
	due := make([]int64, 0, c.Workload.Outstanding)
	for range c.Workload.Outstanding {
		due = append(due, clock.Now())
	}
	often := max(time.Millisecond, c.Workload.Timeout/16)
	check := time.NewTicker(often)
	defer check.Stop()
	// gather takes the answers that came, and gives up what has timed out. It sets look, the instant
	// at which the caller calls it again.
	look := clock.Now() + int64(often)
	gather := func() {
		c.Quiesce(window.OrderLoad)
		for len(ready) > 0 { // answers that came while the loop slept or sent
			if a := <-ready; in.Answered(a) {
				due = append(due, a.At)
			}
		}
		now := clock.Now()
		for range in.Expire(now, timeout) {
			due = append(due, now)
		}
		look = now + int64(often)
	}
	measured := false
	for turn := 0; ; {
		for len(due) > 0 {
			for look < due[0]+think { // what times out is noticed during think time, too
				if !c.Precise.Until(look, c.Stop) {
					return
				}
				gather()
			}
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
			st := c.Streams[ids[turn%len(ids)]]
			turn++
			l := c.LaneOf(st)
			sl := l.Credits.TakeShared()
			for sl == nil { // the client still holds what timed out
				if !c.SleepUntil(clock.Now() + creditPoll) {
					return
				}
				sl = l.Credits.TakeShared()
			}
			if measured && !st.Begun {
				st.Begin()
			}
			seq := st.Next
			sent := clock.Now()
			in.Await(st, &l.Credits, seq, sent, measured)
			d := departure{kind: integrity.Data, intended: intended, sent: sent, own: sent - intended, measured: measured}
			if l.transmit(st, sl, d) == nil && measured {
				l.shard.Lag(sent-intended, 0, intended-c.Plan.Start.Load())
			}
			if st.Flusher != nil {
				_ = st.Flusher.Flush() // a failure shows in the sends that follow
			}
		}
		select {
		case a := <-ready:
			if in.Answered(a) {
				due = append(due, a.At) // the next one is due with the answer
			}
		case <-check.C:
			gather()
		case <-c.Stop:
			return
		}
	}
}

// thought waits until think time is over at t, and returns when the message is due, both
// CLOCK_MONOTONIC; false if the run is over. If the timer is late, the user thinks for longer, and the
// message is not late: it is due when the thinking has ended. If think time ended while the producer
// was busy with another message, the message is late.
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
