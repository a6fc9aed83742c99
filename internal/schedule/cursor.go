package schedule

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// endOfTime is beyond every run: 146 years.
const endOfTime = 1 << 62

// Cursor iterates over the instants of one producer. It is a value: a copy
// continues from the same position, independently. It is not safe for concurrent
// use. The zero Cursor has ended.
type Cursor struct {
	kind   kind
	flow   *flow
	n      int64 // the next message's number in the whole load
	stride int64

	// Constant rate: the next instant and the remainder of its division, and by how
	// much both grow with each message, as in Bresenham's line algorithm.
	t        int64
	last     int64 // end of the piece
	rem, add uint64
	m        uint64
	step     int64
	piece    int

	// Random arrivals.
	random   rand.PCG
	gap      float64 // poisson: mean gap in ns; scaled: producers per message
	fraction float64
	end      int64

	slices *Slices // nil: what own returns is the offset
}

// Next returns the offset in nanoseconds from the start of the window at which
// the producer's next message is due; offsets do not descend. ok is false at the
// end of the schedule. Next does not allocate.
func (c *Cursor) Next() (offset int64, ok bool) {
	offset, ok = c.own()
	if ok && c.slices != nil {
		return c.slices.at(offset)
	}
	return offset, ok
}

// own is Next in the load's own time.
func (c *Cursor) own() (offset int64, ok bool) {
	switch c.kind {
	case pieced:
		if c.n >= c.last && !c.enter() {
			return 0, false
		}
		t := c.t
		if t >= endOfTime {
			return 0, false
		}
		c.n += c.stride
		c.t += c.step
		c.rem += c.add
		if c.rem >= c.m {
			c.rem -= c.m
			c.t++
		}
		return t, true
	case poisson:
		c.fraction += float64(exponential(&c.random) * c.gap)
		whole := nanoseconds(c.fraction)
		c.fraction -= float64(whole)
		c.t += whole
		if c.t >= c.end {
			c.kind = ended
			return 0, false
		}
		return c.t, true
	case scaled:
		c.fraction += float64(exponential(&c.random) * c.gap)
		whole := nanoseconds(c.fraction)
		c.fraction -= float64(whole)
		c.n += whole
		t := max(c.t, c.flow.inverse(c.n, c.fraction))
		if t >= c.end {
			c.kind = ended
			return 0, false
		}
		c.t = t
		return t, true
	case ended:
		return 0, false
	default:
		if c.n >= c.last {
			return 0, false
		}
		t := c.flow.at(c.n)
		c.n += c.stride
		return t, true
	}
}

// numbered returns the cursor over the messages of f from n on, every stride-th.
func numbered(f *flow, n, stride int64) Cursor {
	c := Cursor{kind: f.kind, flow: f, n: n, stride: stride, last: f.last}
	if f.kind == pieced {
		c.last = math.MinInt64 // enter before the first
	}
	return c
}

// enter moves to the piece of message n. It returns false if n is beyond the schedule.
func (c *Cursor) enter() bool {
	if c.n >= c.flow.last {
		return false
	}
	c.piece = c.flow.linear.find(c.piece, c.n)
	p := &c.flow.linear[c.piece]
	c.last, c.m = p.last, p.m
	c.t, c.rem = p.at(c.n)
	hi, lo := bits.Mul64(uint64(c.stride), p.per)
	if hi >= p.m {
		c.step, c.add = endOfTime, 0
		return true
	}
	q, rem := bits.Div64(hi, lo, p.m)
	c.step, c.add = int64(min(q, endOfTime)), rem
	return true
}
