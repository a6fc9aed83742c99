package clocksync

import "math"

// Fate is what [Estimator.Add] did with an exchange.
type Fate int

// The fates.
const (
	// Taken: it agrees with the exchanges before, and is kept if its delay is the
	// least of its stretch (Config.Keep).
	Taken Fate = iota
	// Refused: no two clocks can have stamped it, or it is older than the one
	// before. It is counted and otherwise ignored.
	Refused
	// Stepped: it contradicts the exchanges before by more than drift, wander and
	// queueing explain. The estimate starts again with it.
	Stepped
)

// Step is a contradiction between exchanges: one of the clocks was set, or
// slewed faster than it may drift.
type Step struct {
	// After is the instant, on this clock, of the last kept exchange that agreed
	// with the old line, Seen that of the first that did not, ns. The step is
	// between them, unless a wide interval hid an older one.
	After, Seen int64
	// Size is the least size of the step, ns; positive if the other clock jumped
	// ahead.
	Size int64
}

// Estimate is the estimated state of the other clock at an instant.
type Estimate struct {
	// Offset is the other clock minus this one, ns. The true offset is within
	// Offset ± Bound; Bound is at least 1 ns.
	Offset, Bound int64
	// Drift is how much the other clock gains on this one, as a share (1e-6 is
	// 1 ppm), and DriftBound how far that may be from the truth.
	Drift, DriftBound float64
	// Delay is the least delay among the kept exchanges, ns. Queueing is by how much Offset is off at most if all that the kept
	// exchanges took longer than that, they took on one and the same way, ns.
	Delay, Queueing int64
	// Points is how many kept exchanges the estimate rests on.
	Points int
}

// Estimator computes estimates from exchanges as they come. Its memory is bounded
// by Config.Points. Not safe for concurrent use.
type Estimator struct {
	config Config

	// The current segment, the time since the last step. Instants and offsets are
	// relative to its first exchange's, so that they are exact as floating-point
	// numbers.
	points  []point
	began   int64 // instant of the first exchange, here, ns
	base    int64 // its offset, ns
	bucket  int64 // number of the stretch that the last point belongs to
	latest  int64 // instant of the newest exchange taken, here, ns
	stepped bool  // the segment began by a step: nothing is known before it

	refused int64
	steps   int
	step    Step
}

// point is a kept exchange: the offset at an instant lies in [low, high].
type point struct {
	at        float64 // ns since the segment's first
	low, high float64 // ns above the segment's base
	delay     int64
}

func (p point) middle() float64 { return (p.low + p.high) / 2 }
func (p point) half() float64   { return (p.high - p.low) / 2 }

// NewEstimator returns an estimator without exchanges. The error is that of
// [Config.Validate].
func NewEstimator(c Config) (*Estimator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	return &Estimator{config: c, points: make([]point, 0, c.Points+1)}, nil
}

// Add adds one exchange. Exchanges must be added in the order of their instants on this
// clock; others are [Refused].
func (e *Estimator) Add(x Exchange) Fate {
	at := x.middle()
	if !x.possible(e.config.MaxDrift) || len(e.points) > 0 && at < e.latest {
		e.refused++
		return Refused
	}
	if len(e.points) == 0 {
		e.begin(x)
		return Taken
	}
	p, ok := e.pointOf(x)
	if !ok {
		return e.contradicted(x, math.Copysign(farthest, float64(x.Offset()-e.base)))
	}
	low, high := e.interval(p.at)
	switch {
	case p.low > high:
		return e.contradicted(x, p.low-high)
	case p.high < low:
		return e.contradicted(x, p.high-low)
	}
	e.latest = at
	bucket := int64(p.at) / int64(e.config.Keep)
	last := &e.points[len(e.points)-1]
	switch {
	case bucket != e.bucket:
		e.bucket = bucket
		if len(e.points) == e.config.Points {
			e.points = append(e.points[:0], e.points[1:]...)
		}
		e.points = append(e.points, p)
	case p.half() <= last.half():
		*last = p
	}
	return Taken
}

// begin starts a segment with its first exchange.
func (e *Estimator) begin(x Exchange) {
	e.began, e.base, e.bucket = x.middle(), x.Offset(), 0
	e.latest = e.began
	p, _ := e.pointOf(x) // relative to itself
	e.points = append(e.points[:0], p)
}

// contradicted ends the segment and begins another with x. size is the disagreement in ns.
func (e *Estimator) contradicted(x Exchange, size float64) Fate {
	last := e.points[len(e.points)-1]
	e.steps++
	e.step = Step{After: e.began + int64(last.at), Seen: x.middle(), Size: int64(size)}
	e.begin(x)
	e.stepped = true
	return Stepped
}

// pointOf makes an exchange relative to the segment. ok is false if it is so far
// away that the clock must have stepped.
func (e *Estimator) pointOf(x Exchange) (p point, ok bool) {
	at, ok1 := difference(x.middle(), e.began)
	offset, ok2 := difference(x.Offset(), e.base)
	if !ok1 || !ok2 || math.Abs(float64(offset)) > 1e15 {
		return point{}, false
	}
	// Half the delay, plus what the clocks may drift apart between the instants of
	// the exchange and its middle, plus 2 ns for the rounding of θ and of the middle.
	// Even with the least possible delay, −2 ns, the interval has some width.
	half := float64(x.Delay())/2 + e.config.MaxDrift*float64(x.T4-x.T1)/2 + 2
	return point{at: float64(at), low: float64(offset) - half, high: float64(offset) + half, delay: x.Delay()}, true
}

// interval returns the least and the largest possible offset at an instant, in ns relative
// to the segment's base. low > high if the kept exchanges contradict each other there.
func (e *Estimator) interval(at float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	wander := e.config.Wander / 1e9 / 2 // half of a change a nanosecond
	for i, p := range e.points {
		reach := e.config.MaxDrift * math.Abs(at-p.at)
		low, high = max(low, p.low-reach), min(high, p.high+reach)
		for _, q := range e.points[:i] {
			// A line through both: the offset's distance from it is at most
			// |o”|/2·|at−p||at−q| (the error of linear interpolation).
			u := (at - q.at) / (p.at - q.at) // 0 at q, 1 at p
			bend := wander * math.Abs(at-p.at) * math.Abs(at-q.at)
			lo, hi := u*p.low+(1-u)*q.low, u*p.high+(1-u)*q.high
			switch {
			case u > 1:
				lo, hi = u*p.low+(1-u)*q.high, u*p.high+(1-u)*q.low
			case u < 0:
				lo, hi = u*p.high+(1-u)*q.low, u*p.low+(1-u)*q.high
			}
			low, high = max(low, lo-bend), min(high, hi+bend)
		}
	}
	return low, high
}

// slopes returns the least and the largest possible drift at an instant.
func (e *Estimator) slopes(at float64) (low, high float64) {
	low, high = -e.config.MaxDrift, e.config.MaxDrift
	for i, p := range e.points {
		for _, q := range e.points[:i] {
			bend := e.config.Wander / 1e9 * max(math.Abs(at-p.at), math.Abs(at-q.at))
			low = max(low, (p.low-q.high)/(p.at-q.at)-bend)
			high = min(high, (p.high-q.low)/(p.at-q.at)+bend)
		}
	}
	return low, high
}

// fit returns the least-squares line through the kept offsets, each weighted by
// the inverse square of its interval, as its value at an instant and its slope. Half of what each
// exchange took longer than least may be in its offset: queueing is what these make of the value at most.
func (e *Estimator) fit(at float64, least int64) (value, slope, queueing float64) {
	var sw, sx, sy float64
	for _, p := range e.points {
		w := 1 / (p.half() * p.half())
		sw, sx, sy = sw+w, sx+w*p.at, sy+w*p.middle()
	}
	mx, my := sx/sw, sy/sw
	var sxx, sxy float64
	for _, p := range e.points {
		w := 1 / (p.half() * p.half())
		sxx += w * (p.at - mx) * (p.at - mx)
		sxy += w * (p.at - mx) * (p.middle() - my)
	}
	if sxx > 0 {
		slope = sxy / sxx
	}
	for _, p := range e.points {
		w := 1 / (p.half() * p.half())
		share := w / sw // of this offset in the value
		if sxx > 0 {
			share += w * (p.at - mx) * (at - mx) / sxx
		}
		queueing += math.Abs(share) * float64(p.delay-least) / 2
	}
	return my + slope*(at-mx), slope, queueing
}

// At returns the estimate at an instant of this clock, ns. ok is false before the
// first exchange was taken, and for instants before the last step was seen. The
// bound is smallest among the kept exchanges and grows away from them: call At
// some seconds after the instant, when later exchanges have come in, and within
// Keep × Points of the newest exchange.
func (e *Estimator) At(here int64) (x Estimate, ok bool) {
	d, near := difference(here, e.began)
	if len(e.points) == 0 || !near || e.stepped && d < 0 {
		return Estimate{}, false
	}
	at := float64(d)
	low, high := e.interval(at)
	if low > high {
		// Between exchanges that all agreed at their own instants: rounding, or a
		// hidden small step. The interval then covers both contradictory ends.
		low, high = high, low
	}
	least := e.points[0].delay
	for _, p := range e.points {
		least = min(least, p.delay)
	}
	value, slope, queueing := e.fit(at, least)
	value = math.Round(min(max(value, low), high))
	slopeLow, slopeHigh := e.slopes(at)
	if slopeLow > slopeHigh {
		slopeLow, slopeHigh = slopeHigh, slopeLow
	}
	slope = min(max(slope, slopeLow), slopeHigh)
	bound := math.Ceil(max(high-value, value-low, 1))
	if bound > farthest {
		return Estimate{}, false
	}
	x = Estimate{Offset: e.base + int64(value), Bound: int64(bound), Drift: slope,
		DriftBound: max(slopeHigh-slope, slope-slopeLow), Points: len(e.points), Delay: least, Queueing: int64(math.Ceil(min(queueing, bound)))}
	return x, true
}

// Steps returns the number of steps seen, and the last of them (zero if n is 0).
func (e *Estimator) Steps() (n int, last Step) { return e.steps, e.step }

// Refused returns the number of exchanges that were impossible or out of order.
func (e *Estimator) Refused() int64 { return e.refused }
