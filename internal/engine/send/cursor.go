package send

import (
	"sixnines/internal/engine/stream"
	"sixnines/internal/engine/window"
	"sixnines/internal/schedule"
)

// cursor is where a lane is in its schedule. It belongs to the lane's pacer and
// moves with the lane to another one, so that a takeover costs the same whenever it
// happens.
type cursor struct {
	producers []int
	phase     schedule.Phase
	messages  *schedule.Merged // what is left of the phase; nil: no phase has begun
	shift     int64            // ns that the instants of this phase are later than in the schedule

	// The message that is due next. It has not been sent.
	intended int64 // CLOCK_MONOTONIC; window.Never: no more are due
	producer int32
}

// measured reports whether the message that is due next belongs to the window.
func (c *cursor) measured() bool { return c.phase == schedule.Window }

// begin loads the first message of the schedule.
func (l *lane) begin() {
	l.enter(schedule.Before)
	l.advance()
}

// enter begins phase ph.
func (l *lane) enter(ph schedule.Phase) {
	c := &l.cursor
	c.phase, c.shift = ph, 0
	c.messages = l.plan.Schedule.Merge(c.producers, ph)
	switch ph {
	case schedule.Window:
		for _, st := range l.Streams {
			st.Begin()
		}
	case schedule.After:
		// An early end moves the load after the window forward to it.
		c.shift = l.plan.End.Load() - l.plan.Start.Load() - int64(l.plan.Length)
		for _, st := range l.Streams {
			st.End()
		}
		l.sending.Past.Add(1)
	}
}

// advance loads the next message. The load after the window has no end, unless the
// schedule has one or the workload stops.
func (l *lane) advance() {
	c := &l.cursor
	for {
		if c.phase == schedule.After && l.plan.Part.Stops {
			c.intended = window.Never
			return
		}
		offset, producer, ok := c.messages.Next()
		if ok {
			c.intended, c.producer = l.plan.Start.Load()+offset+c.shift, producer
			if !l.beyond() {
				return
			}
		}
		if c.phase == schedule.After {
			c.intended = window.Never // the schedule has ended
			return
		}
		l.enter(c.phase + 1)
	}
}

// beyond reports whether the message that is due next was planned for the window and
// is no longer part of it, because the window was ended early.
func (l *lane) beyond() bool {
	return l.cursor.phase == schedule.Window && l.cursor.intended >= l.plan.End.Load()
}

// Unsent yields the messages of the window that the lane did not send, as their intended instants,
// CLOCK_MONOTONIC, and streams. It is called once, after the lane's pacer has ended: it uses the
// cursor up.
func (l *lane) Unsent(yield func(int64, *stream.Stream) bool) {
	c := &l.cursor
	if c.messages == nil || c.phase == schedule.After {
		return
	}
	if c.phase == schedule.Before {
		c.messages = l.plan.Schedule.Merge(c.producers, schedule.Window)
		offset, producer, ok := c.messages.Next()
		if !ok {
			return
		}
		c.intended, c.producer = l.plan.Start.Load()+offset, producer
	}
	start, end := l.plan.Start.Load(), l.plan.End.Load()
	for c.intended < end && yield(c.intended, l.sending.turnOf(c.producer)) {
		offset, producer, ok := c.messages.Next()
		if !ok {
			return
		}
		c.intended, c.producer = start+offset, producer
	}
}
