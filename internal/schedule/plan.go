package schedule

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"

	"sixnines/scenario"
)

// Limits of a plan, within which its arithmetic is exact.
const (
	maxWindow    = scenario.MaxDuration  // longest window, and longest warm-up
	maxRate      = scenario.MaxOpenRate  // messages a second, at any instant
	maxPer       = scenario.MaxPer       // longest denominator of a rate
	maxPeriod    = 24 * time.Hour        // longest period of sine and burst
	maxProducers = scenario.MaxProducers // producers of a fleet
)

// ErrUnscheduled says that the workload has no schedule: it sends at the maximum rate
// or in a closed loop.
var ErrUnscheduled = errors.New("schedule: a flat-out or closed-loop workload has no schedule")

// Phase is the part of a run that instants belong to.
type Phase uint8

// The phases.
const (
	Before Phase = iota // the warm-up: offsets below zero
	Window              // the measured window
	After               // the load that continues after the window
	phases
)

// Plan is the schedule of a workload. It is immutable and safe for concurrent
// use.
type Plan struct {
	producers int     // that the load is divided over
	members   []int   // those of the plan, ascending; nil: all of them
	window    int64   // ns of the load's own time, see Slices
	warmup    int64   // likewise
	slices    *Slices // nil: the load's own time is the window's
	seed      uint64
	mean      float64 // messages a second in the window
	random    bool
	flows     [phases]flow
	rates     [phases]scenario.Rate // random: of the phases at one rate
	first     scenario.Rate         // at the start of the window; zero for bursts
}

// New plans a normalised workload over a window, without a warm-up. It returns
// [ErrUnscheduled] for a maximum-rate or closed-loop workload, and an error for a
// workload or window outside the package's limits, for a trace that cannot be read
// (with file and line) and for one without an instant in the window.
//
// A step schedule longer than the window is cut; a shorter one keeps its last
// rate.
func New(w *scenario.Workload, window time.Duration, seed uint64) (*Plan, error) {
	if w.Loop == scenario.Closed || w.Rate.IsMax() {
		return nil, ErrUnscheduled
	}
	if window <= 0 || window > maxWindow {
		return nil, fmt.Errorf("schedule: a window of %v: must be above 0 and at most %v", window, maxWindow)
	}
	if w.Producers < 1 || w.Producers > maxProducers {
		return nil, fmt.Errorf("schedule: %d producers: must be 1 to %d", w.Producers, maxProducers)
	}
	p := &Plan{producers: w.Producers, window: int64(window), seed: seed}
	a := &w.Arrivals
	p.random = a.Kind == scenario.Poisson || a.Random
	var err error
	switch a.Kind {
	case scenario.Constant, scenario.Poisson, "":
		err = p.steps([]stretch{{w.Rate, window}})
	case scenario.Step:
		if err = checkLengths(a.Steps); err == nil {
			err = p.steps(cut(a.Steps, window))
		}
	case scenario.Ramp:
		err = p.ramp(a.From, a.To, window)
	case scenario.Sine:
		err = p.sine(w.Rate, a)
	case scenario.Burst:
		err = p.burst(a)
	case scenario.Trace:
		err = p.trace(a.File, window)
	default:
		err = fmt.Errorf("no arrivals are called %q", a.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	return p.WithWarmup(0), nil
}

// WithWarmup returns the plan with a warm-up of the given length, 0 to
// [maxWindow]: the instants of phase [Before] then lie in [−length, 0). It
// panics on another length.
func (p *Plan) WithWarmup(length time.Duration) *Plan {
	if length < 0 || length > maxWindow {
		panic(fmt.Sprintf("schedule: a warm-up of %v", length))
	}
	if p.slices != nil {
		length = time.Duration(-p.slices.own(-int64(length)))
	}
	q := *p
	q.warmup = int64(length)
	if w := &q.flows[Window]; w.kind == bundled {
		q.flows[Before] = flow{kind: bundled, first: -w.count * (int64(length) / w.period), count: w.count, period: w.period}
		return &q
	}
	before := preceding(length, q.first)
	q.flows[Before] = flow{kind: pieced, first: before.first, linear: linear{before}}
	return &q
}

// steps plans constant rates, one after the other.
func (p *Plan) steps(all []stretch) error {
	if len(all) == 0 {
		return errors.New("a step schedule without steps")
	}
	for _, s := range all {
		if err := checkRate(s.rate); err != nil {
			return err
		}
	}
	list, total, lambda := pieces(all)
	p.flows[Window] = flow{kind: pieced, last: total, linear: list}
	p.edges(all[0].rate, lambda, all[len(all)-1].rate)
	return nil
}

func checkLengths(steps []scenario.RateStep) error {
	for _, s := range steps {
		if s.For <= 0 {
			return fmt.Errorf("a step of %v: must be longer than 0", s.For)
		}
	}
	return nil
}

// cut shortens or lengthens steps to the window.
func cut(steps []scenario.RateStep, window time.Duration) []stretch {
	var all []stretch
	left := window
	for _, s := range steps {
		length := min(s.For, left)
		all = append(all, stretch{s.Rate, length})
		if left -= length; left == 0 {
			return all
		}
	}
	if len(all) > 0 {
		all[len(all)-1].length += left
	}
	return all
}

func (p *Plan) ramp(from, to scenario.Rate, window time.Duration) error {
	if err := errors.Join(checkRate(from), checkRate(to)); err != nil {
		return err
	}
	r, lambda := newRamp(from, to, window)
	p.flows[Window] = flow{kind: ramped, last: r.total, ramp: r}
	p.edges(from, lambda, to)
	return nil
}

func (p *Plan) sine(mean scenario.Rate, a *scenario.Arrivals) error {
	if !(a.Amplitude > 0 && a.Amplitude <= 1) {
		return fmt.Errorf("a sine's amplitude of %v: must be above 0 and at most 1", a.Amplitude)
	}
	if err := errors.Join(checkRate(mean), checkPeriod(a.Period)); err != nil {
		return err
	}
	if mean.Float()*(1+a.Amplitude) > maxRate {
		return fmt.Errorf("a sine of mean %v rises above %d/s", mean, maxRate)
	}
	s := newSine(mean, a.Amplitude, int64(a.Period))
	f := flow{kind: swung, sine: s}
	f.last = int64(s.lambda(p.window))
	for f.at(f.last) < p.window {
		f.last++
	}
	for f.last > 0 && f.at(f.last-1) >= p.window {
		f.last--
	}
	p.flows[Window] = f
	end := mean
	// With almost no load after the window, clients would never fill and send their
	// last batches.
	if x := s.rate(p.window); x >= 0.01 {
		const per = 1000 * time.Second
		end = scenario.Rate{Messages: max(1, uint64(x*mean.Float()*per.Seconds())), Per: per}
	}
	lambda := new(big.Rat).SetFloat64(s.lambda(p.window))
	p.edges(mean, lambda, end)
	return nil
}

func (p *Plan) burst(a *scenario.Arrivals) error {
	if err := checkPeriod(a.Period); err != nil {
		return err
	}
	if err := checkRate(scenario.Rate{Messages: a.Count, Per: a.Period}); err != nil {
		return err
	}
	count, period := int64(a.Count), int64(a.Period)
	bursts := (p.window + period - 1) / period
	p.flows[Window] = flow{kind: bundled, last: bursts * count, count: count, period: period}
	p.flows[After] = flow{kind: bundled, first: bursts * count, last: 1<<63 - 1, count: count, period: period}
	p.mean = float64(bursts*count) / time.Duration(p.window).Seconds()
	return nil
}

func (p *Plan) trace(file string, window time.Duration) error {
	instants, err := readTrace(file, window)
	if err != nil {
		return err
	}
	if len(instants) == 0 {
		return fmt.Errorf("trace: %s has no instant in the first %v", file, window)
	}
	total := int64(len(instants))
	p.flows[Window] = flow{kind: listed, last: total, trace: instants}
	mean := scenario.Rate{Messages: uint64(total), Per: window}
	p.edges(mean, new(big.Rat).SetInt64(total), mean)
	return nil
}

// edges plans the load before and after a window in which lambda messages are due.
func (p *Plan) edges(before scenario.Rate, lambda *big.Rat, after scenario.Rate) {
	p.first = before
	p.rates[Before], p.rates[Window], p.rates[After] = before, before, after
	total := p.flows[Window].last
	p.flows[After] = flow{kind: pieced, first: total, last: 1<<63 - 1, linear: linear{following(p.window, lambda, total, after)}}
	due, _ := lambda.Float64()
	p.mean = due / time.Duration(p.window).Seconds()
}

// checkRate reports whether arithmetic with r stays exact.
func checkRate(r scenario.Rate) error {
	if r.Messages == 0 || r.Per <= 0 || r.Per > maxPer {
		return fmt.Errorf("a rate of %d in %v: must be at least one message a time of at most %v", r.Messages, r.Per, maxPer)
	}
	hi, lo := bits.Mul64(r.Messages, uint64(time.Second))
	limit, low := bits.Mul64(uint64(r.Per), maxRate)
	if hi > limit || hi == limit && lo > low {
		return fmt.Errorf("a rate of %d in %v: must be at most %d/s", r.Messages, r.Per, maxRate)
	}
	return nil
}

func checkPeriod(d time.Duration) error {
	if d <= 0 || d > maxPeriod {
		return fmt.Errorf("a period of %v: must be above 0 and at most %v", d, maxPeriod)
	}
	return nil
}

// Of returns the part of the plan that the given producers of it have. It has as many
// producers, numbered from 0 in the given order, and they are due at the same instants as in
// the whole. It panics unless members are ascending producers of the whole plan.
func (p *Plan) Of(members []int) *Plan {
	if p.members != nil {
		panic("schedule: a part of a part")
	}
	for i, m := range members {
		if p.check(m); i > 0 && m <= members[i-1] {
			panic(fmt.Sprintf("schedule: producer %d after %d", m, members[i-1]))
		}
	}
	q := *p
	q.members = append([]int{}, members...) // never nil
	return &q
}

// Producers returns the number of producers that the plan has.
func (p *Plan) Producers() int {
	if p.members != nil {
		return len(p.members)
	}
	return p.producers
}

// MeanRate returns the messages a second that are due in the window, over all producers of the plan; of
// random arrivals, and of a part of a plan, the expected number.
func (p *Plan) MeanRate() float64 {
	if p.members == nil {
		return p.mean
	}
	return p.mean * float64(len(p.members)) / float64(p.producers)
}

// Total returns the number of messages due in the window, over all producers of the plan.
// Where exact is false, arrivals are random and n is the expected number; see
// [Plan.CountProducer].
func (p *Plan) Total() (n uint64, exact bool) {
	switch all := uint64(p.flows[Window].last); {
	case p.members == nil:
		return all, !p.random
	case p.random:
		return uint64(math.Round(float64(all) * float64(len(p.members)) / float64(p.producers))), false
	}
	for i := range p.members {
		n += p.CountProducer(i)
	}
	return n, true
}

// CountProducer returns the exact number of messages of a producer that are due
// in the window. For random arrivals it generates them all.
func (p *Plan) CountProducer(producer int) uint64 {
	p.check(producer)
	if !p.random {
		return p.flows[Window].countOf(int64(p.number(producer)), int64(p.producers))
	}
	c := p.Producer(producer)
	n := uint64(0)
	for {
		if _, ok := c.Next(); !ok {
			return n
		}
		n++
	}
}

// Producer returns the instants of a producer in the measured window: offsets
// in [0, window). Like Before and After it panics on a producer that the plan
// does not have.
func (p *Plan) Producer(producer int) Cursor { return p.sliced(producer, Window) }

// Before returns the instants of a producer in the warm-up: offsets in
// [−length, 0) with the length given to [Plan.WithWarmup], at the rate with
// which the window begins (of a trace: at its mean rate). A numbered load
// passes evenly from the warm-up into the window.
func (p *Plan) Before(producer int) Cursor { return p.sliced(producer, Before) }

// After returns the instants of a producer from the end of the window on, at
// the rate with which it ends. A trace, and a sine that ends below a hundredth
// of its mean, go on at their mean rate. The sequence does not end.
func (p *Plan) After(producer int) Cursor { return p.sliced(producer, After) }

func (p *Plan) sliced(producer int, phase Phase) Cursor {
	c := p.cursor(producer, phase)
	c.slices = p.slices
	return c
}

// cursor yields instants of the load's own time.
func (p *Plan) cursor(producer int, phase Phase) Cursor {
	p.check(producer)
	producer = p.number(producer)
	f := &p.flows[phase]
	if !p.random {
		return numbered(f, f.firstOf(int64(producer), int64(p.producers)), int64(p.producers))
	}
	c := Cursor{kind: poisson, flow: f, gap: float64(p.producers)}
	seedStream(&c.random, p.seed, phase, producer)
	switch phase {
	case Before:
		c.t = -p.warmup
	case Window:
		c.end = p.window
	default:
		c.t, c.end = p.window, endOfTime
	}
	if phase == Window && (f.kind != pieced || len(f.linear) > 1) {
		c.kind = scaled
		return c
	}
	r := p.rates[phase]
	c.gap = float64(c.gap*float64(r.Per)) / float64(r.Messages)
	return c
}

func (p *Plan) check(producer int) {
	if producer < 0 || producer >= p.Producers() {
		panic(fmt.Sprintf("schedule: producer %d of %d", producer, p.Producers()))
	}
}

// number is the number of a producer of the plan among those of the whole.
func (p *Plan) number(producer int) int {
	if p.members != nil {
		return p.members[producer]
	}
	return producer
}
