package engine

import (
	"sixnines/internal/schedule"
)

// cursor is where a lane is in its schedule. It belongs to the lane's pacer and
// goes with the lane to another one, so that handing a lane on costs the same
// whenever it happens.
type cursor struct {
	producers []int
	phase     schedule.Phase
	feed      *schedule.Merged // what is left of the phase; nil: nothing was begun
	shift     int64            // of the instants of this phase

	// The message that is due next. It has not been sent.
	intended int64
	producer int32
}

// measured reports whether the message that is due next belongs to the window.
func (c *cursor) measured() bool { return c.phase == schedule.Window }

// begin loads the first message of the schedule.
func (l *lane) begin() {
	l.enter(schedule.Before)
	l.advance()
}

// enter turns to phase ph.
func (l *lane) enter(ph schedule.Phase) {
	c := &l.cursor
	c.phase, c.shift = ph, 0
	c.feed = l.plan.schedule.Merge(c.producers, ph)
	switch ph {
	case schedule.Window:
		for _, st := range l.streams {
			st.begin()
		}
	case schedule.After:
		// An early end moves the load after the window forward to it.
		c.shift = l.plan.end.Load() - l.plan.start.Load() - int64(l.plan.window)
		for _, st := range l.streams {
			st.last = st.next
		}
		l.sending.past.Add(1)
	}
}

// advance loads the next message. The load after the window has no end, unless it
// was to last for so long and no longer.
func (l *lane) advance() {
	c := &l.cursor
	for {
		if c.phase == schedule.After && l.plan.part.Stops {
			c.intended = never
			return
		}
		offset, producer, ok := c.feed.Next()
		if ok {
			c.intended, c.producer = l.plan.start.Load()+offset+c.shift, producer
			if !l.beyond() {
				return
			}
		}
		if c.phase == schedule.After {
			c.intended = never // it was for ever
			return
		}
		l.enter(c.phase + 1)
	}
}

// beyond reports whether the message that is due next was of the window when it
// was planned and is not any more: it was ended early.
func (l *lane) beyond() bool {
	return l.cursor.phase == schedule.Window && l.cursor.intended >= l.plan.end.Load()
}

// unsent yields the messages of the window that the lane did not get to, as their
// intended instants and streams. The lane has no pacer any more, and the cursor is
// used up by it.
func (l *lane) unsent(yield func(int64, *stream) bool) {
	c := &l.cursor
	if c.feed == nil || c.phase == schedule.After {
		return
	}
	if c.phase == schedule.Before {
		c.feed = l.plan.schedule.Merge(c.producers, schedule.Window)
		offset, producer, ok := c.feed.Next()
		if !ok {
			return
		}
		c.intended, c.producer = l.plan.start.Load()+offset, producer
	}
	start, end := l.plan.start.Load(), l.plan.end.Load()
	for c.intended < end && yield(c.intended, l.sending.turnOf(c.producer)) {
		offset, producer, ok := c.feed.Next()
		if !ok {
			return
		}
		c.intended, c.producer = start+offset, producer
	}
}
