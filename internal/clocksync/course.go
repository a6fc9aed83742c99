package clocksync

import "math"

// Reading is how far the raw clock of a machine (CLOCK_MONOTONIC_RAW, which nobody slews) is ahead of its monotonic clock, which a
// time service slews. The zero value: it is not known.
type Reading struct {
	At    int64 // on a monotonic clock, ns
	Ahead int64 // ns; the true value is within Ahead ± Width/2
	Width int64 // of the bracket in which the two were read, ns; above 0
}

// Known reports whether there is a reading.
func (r Reading) Known() bool { return r.Width > 0 }

// Bounds of what happens between two readings.
const (
	// mostSlew is the most by which the rates of the two clocks of a machine differ: the kernel slews by at most 500 ppm, and
	// chrony, which changes the length of a tick, by up to 83,333 ppm, which readings show.
	mostSlew = 500e-6
	// oneKink is how far apart two readings are between which the rate changes once at most: the kernel changes it once a
	// second, and time services less often.
	oneKink = 500_000_000
	// apart is the least time between two readings that are kept: the shorter, the less their rate is known.
	apart = 20_000_000
	// wide is how many times as wide as the last a reading is at least that was interrupted. It is left out if the last is less than
	// soon ago.
	wide = 4
	soon = 100_000_000
	// readings is how many are kept.
	readings = 256
)

// Course is how the monotonic clock of one machine goes against its raw clock, by readings. The zero value has none. It belongs to
// one goroutine.
type Course struct{ all []Reading }

// Add adds a reading. One that is not known, or comes soon after the last, is left out.
func (c *Course) Add(r Reading) {
	if !r.Known() {
		return
	}
	if n := len(c.all); n > 0 {
		last := &c.all[n-1]
		if r.At < last.At+apart || r.Width > wide*last.Width && r.At < last.At+soon {
			return
		}
	}
	if len(c.all) == readings {
		c.all = append(c.all[:0], c.all[1:]...)
	}
	c.all = append(c.all, r)
}

// slope is by how much the raw clock gained between readings i and i+1, as a share.
func (c *Course) slope(i int) float64 {
	a, b := c.all[i], c.all[i+1]
	return float64(b.Ahead-a.Ahead) / float64(b.At-a.At)
}

// blur is by how much slope i is wrong at most.
func (c *Course) blur(i int) float64 {
	a, b := c.all[i], c.all[i+1]
	return float64(a.Width+b.Width) / 2 / float64(b.At-a.At)
}

// At returns how far the raw clock was ahead at an instant, within ± bound, and how much it gained then, as a share. ok is false before the
// second reading and outside of them. Between two readings the clock is taken to be on the line through them. If its rate
// changed once there, or in a stretch beside it, it is away from that line by at most a quarter of the stretch times the change, which the
// stretches on both sides show; else by what the slew allows. The three stretches together must be that short: of a long one
// beside it the slope is a mean of several rates, and need not be the one at the border.
func (c *Course) At(at int64) (ahead, bound int64, slope float64, ok bool) {
	n := len(c.all)
	if n < 2 || at < c.all[0].At || at > c.all[n-1].At {
		return 0, 0, 0, false
	}
	i := n - 2
	for c.all[i].At > at {
		i--
	}
	a, b := c.all[i], c.all[i+1]
	length := float64(b.At - a.At)
	slope = c.slope(i)
	bend := max(mostSlew, math.Abs(slope)) * length / 2
	if i > 0 && i+2 < n && c.all[i+2].At-c.all[i-1].At <= oneKink {
		bend = min(bend, (math.Abs(c.slope(i+1)-c.slope(i-1))+c.blur(i-1)+c.blur(i+1))*length/4)
	}
	return a.Ahead + int64(math.Round(slope*float64(at-a.At))), int64(math.Ceil(bend)) + (max(a.Width, b.Width)+1)/2 + 1, slope, true
}

// Ahead predicts how far the raw clock is ahead at an instant after the last reading, and how much it gains: as over about the last
// quarter of a second, where that was at most blur away. ok is false without two readings.
func (c *Course) Ahead(at int64) (ahead int64, slope, blur float64, ok bool) {
	n := len(c.all)
	if n < 2 {
		return 0, 0, 0, false
	}
	last, from := c.all[n-1], c.all[n-2]
	for i := n - 2; i >= 0 && last.At-c.all[i].At <= oneKink/2; i-- {
		from = c.all[i]
	}
	slope = float64(last.Ahead-from.Ahead) / float64(last.At-from.At)
	blur = float64(last.Width+from.Width) / 2 / float64(last.At-from.At)
	return last.Ahead + int64(math.Round(slope*float64(at-last.At))), slope, blur, true
}

// Last is how far the raw clock was ahead at the last reading; 0 without any.
func (c *Course) Last() int64 {
	if len(c.all) == 0 {
		return 0
	}
	return c.all[len(c.all)-1].Ahead
}

// Between returns the instants between which [Course.At] knows the rates on both sides; ok is false if there are none.
func (c *Course) Between() (from, to int64, ok bool) {
	n := len(c.all)
	if n < 4 {
		return 0, 0, false
	}
	return c.all[1].At, c.all[n-2].At, true
}
