package clocksync

import (
	"math"

	"sixnines/internal/clock"
)

// Sight is an exchange of this machine's raw clock with another one's, over UDP: see [Socket]. Each instant is the kernel's time stamp
// where there is one, widened by what is not known of it: T1 and T3 are no later, T2 and T4 no earlier than a frame left or came.
type Sight struct {
	Exchange
	Here   Reading // of the clocks here, meanwhile
	Raw    bool    // else both machines have no raw clock, and the exchange is of the monotonic ones
	Kernel bool    // all four instants are from the kernels
	Clock  uint64  // names the other clock, see [Clocks]
}

// Clocks are those of one machine.
type Clocks struct {
	Now func() int64 // monotonic
	// Wall and Raw are how far two other clocks are ahead of Now, ns, and the width of the bracket in which that was read. Kernels
	// stamp frames by the wall clock.
	Wall, Raw func() (ahead, width int64)
	Name      uint64 // equal for those whose raw clock is the same
}

// OwnClocks are the clocks of this process.
func OwnClocks(name uint64) Clocks {
	return Clocks{Now: clock.Now, Wall: clock.WallAhead, Raw: clock.RawAhead, Name: name}
}

// span is what the wall clock is ahead of the monotonic one: at least low, at most high. Nothing but setting the wall clock changes
// it: both are slewed alike.
type span struct{ low, high int64 }

func (c *Clocks) wall() span {
	ahead, width := c.Wall()
	return span{ahead - (width+1)/2, ahead + (width+1)/2}
}

// and returns the span that has both; ok is false if they contradict each other: the wall clock was set in between.
func (s span) and(o span) (both span, ok bool) {
	return span{min(s.low, o.low), max(s.high, o.high)}, s.low <= o.high && o.low <= s.high
}

// within returns the earliest and the latest that an instant can have been which the kernel stamped, and which was between two of the
// monotonic clock. ok is false if there is no stamp, or one that cannot be true.
func (s span) within(stamp, from, to int64) (earliest, latest int64, ok bool) {
	if stamp == 0 || stamp-s.low < from || stamp-s.high > to {
		return from, to, false
	}
	return max(stamp-s.high, from), min(stamp-s.low, to), true
}

// slewed are the clocks of this machine with how the monotonic one is slewed. They are used by one goroutine at a time.
type slewed struct {
	Clocks
	course Course
}

// reading reads how far the raw clock is ahead.
func (c *slewed) reading() Reading {
	r := Reading{At: c.Now()}
	r.Ahead, r.Width = c.Raw()
	c.course.Add(r)
	return r
}

// earliest and latest are an instant of the monotonic clock by the raw one, for which there is a reading soon before or after. What the
// clocks part by in between is what the slew allows, or what the last readings show if that is more.
func (c *slewed) earliest(at int64, r Reading) int64 { return at + r.Ahead - c.off(at, r) }
func (c *slewed) latest(at int64, r Reading) int64   { return at + r.Ahead + c.off(at, r) }

func (c *slewed) off(at int64, r Reading) int64 {
	_, slope, blur, _ := c.course.Ahead(at)
	return (r.Width+1)/2 + int64(math.Ceil(max(mostSlew, math.Abs(slope)+blur)*math.Abs(float64(at-r.At))))
}

// Joined is what two exchanges with a third clock say of each other's: theirs as an exchange of this clock, which is mine's. drift is
// the most that one clock gains on another, as a share.
func Joined(mine, theirs Exchange, drift float64) Exchange {
	low := (theirs.T1 - theirs.T2) + (mine.T3 - mine.T4)
	high := (theirs.T4 - theirs.T3) + (mine.T2 - mine.T1)
	// What the clocks part by between the instants of the third clock.
	part := int64(math.Ceil(drift * float64(max(mine.T2, mine.T3, theirs.T2, theirs.T3)-min(mine.T2, mine.T3, theirs.T2, theirs.T3))))
	at := mine.middle() + low + (high-low)/2
	return Exchange{T1: at - high - part, T2: at, T3: at, T4: at - low + part}
}

// There is the exchange by the other clock alone: what is [Joined] with it says how that clock is asked by itself.
func (x Exchange) There() Exchange { return Exchange{T1: x.T2, T2: x.T2, T3: x.T3, T4: x.T3} }
