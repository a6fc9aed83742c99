package coordinator

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// How clocks are followed. Exchanges are at random instants, so that nothing periodic on the path meets all of them.
const (
	askEvery     = 50 * time.Millisecond // on average; later where there are many agents
	askEach      = time.Millisecond      // at least, over all agents
	correctEvery = 500 * time.Millisecond
	assessEvery  = 50 * time.Millisecond
	noteEvery    = 500 * time.Millisecond
	settles      = time.Second // after which an instant has exchanges on both sides
	driftKnown   = 20e-6       // a drift that is known worse, and may be none, is left out of a correction: clocks seldom have more
	asymmetry    = 0.1         // share of a round trip by which its two ways are expected to differ at most
)

// following is what clocks are assumed to keep to. Nobody slews the raw clocks of two machines: the rate of one against the
// other changes with their temperatures, by far less than 0.1 ppm in a second. Where they cannot be read (raw is false) it is
// the monotonic clocks: each is slewed by up to 500 ppm, and the rate of one against the other is taken to change by at most 10 ppm
// in a second. A daemon that changes it at once by more, and by too little to contradict the exchanges, is then not noticed. What
// contradicts the assumption is a step.
func following(raw bool) clocksync.Config {
	c := clocksync.Config{Keep: 250 * time.Millisecond, Points: 64, MaxDrift: twoClocks, Wander: 1e-5}
	if raw {
		c.Wander = 1e-7
	}
	return c
}

// Followed is how an agent's clock was followed. The fields are those of result.AgentClock.
type Followed struct {
	Offset                             int64
	Drift                              float64
	Proved, Expected, RoundTrip, Asked int64
	Kernel                             int64 // of those asked: by instants that are all from kernels
	Unknown                            bool
	Raw                                bool // the exchanges are of raw clocks
	Looped
}

// given is a correction that an agent was told. Others may be in use until it is known to be: from and until are instants of
// this clock.
type given struct {
	wire.Clock
	from, until int64
}

// tracker follows the clock of one agent. It belongs to one goroutine.
type tracker struct {
	ask  func(number uint32) (exchanged, error)
	tell func(c *wire.Clock) error
	run  string

	// estimator is of the raw clocks if Raw, and here and there are how the monotonic ones go against them, by instants of this
	// monotonic clock; else of the monotonic ones. nil: nothing was asked yet.
	estimator   *clocksync.Estimator
	here, there clocksync.Course
	given       []given
	placed      bool       // Offset is known
	start       chan int64 // the instant from which on it matters what the agent is told
	begun       bool       // that is known
	assessed    int64      // instant of this clock up to which it is known how wrong that was
	last        int64      // the newest exchange
	asked       uint32
	// note, if not nil, is called about twice a second with how the clocks differ that are followed. All trackers of a run note the same instants.
	note  func(noted)
	noted int64 // the last of them
	Followed
}

func newTracker(run string, ask func(uint32) (exchanged, error), tell func(*wire.Clock) error) *tracker {
	return &tracker{ask: ask, tell: tell, run: run, start: make(chan int64, 1), noted: math.MinInt64, Followed: Followed{RoundTrip: math.MaxInt64}}
}

// exchange asks once.
func (t *tracker) exchange() error {
	t.asked++
	x, err := t.ask(t.asked)
	if err != nil {
		return err
	}
	if t.estimator == nil {
		t.Raw = x.raw
		if t.estimator, err = clocksync.NewEstimator(following(x.raw)); err != nil {
			return err
		}
	}
	t.Asked++
	if x.kernel {
		t.Kernel++
	}
	t.last, t.RoundTrip = x.came, min(t.RoundTrip, x.T4-x.T1)
	switch {
	case x.raw != t.Raw: // a machine tells no more, or only now
		t.Unknown = true
		return nil
	case x.raw:
		t.here.Add(x.here)
		t.there.Add(x.there)
	}
	if t.estimator.Add(x.Exchange) != clocksync.Taken {
		t.Unknown = true
	}
	return nil
}

// at is how the agent's monotonic clock differs from this one at an instant, between exchanges.
func (t *tracker) at(here int64) (e clocksync.Estimate, ok bool) {
	n, ok := t.notedAt(here)
	if !ok || !t.Raw {
		return n.Estimate, ok
	}
	mine, mineBound, mineSlope, _ := t.here.At(here)
	theirs, theirBound, theirSlope, ok := t.there.At(here)
	e = n.Estimate
	e.Offset, e.Drift, e.Bound = e.Offset+mine-theirs, e.Drift+mineSlope-theirSlope, e.Bound+mineBound+theirBound
	e.Queueing += mineBound + theirBound
	return e, ok
}

// notedAt is how the clocks differ that are followed, at an instant of this monotonic clock.
func (t *tracker) notedAt(here int64) (n noted, ok bool) {
	if t.estimator == nil {
		return n, false
	}
	n = noted{at: here, here: here, raw: t.Raw}
	if t.Raw {
		mine, _, _, known := t.here.At(here)
		if !known {
			return n, false
		}
		n.here += mine
	}
	n.Estimate, ok = t.estimator.At(n.here)
	return n, ok
}

// now is how it is taken to differ at an instant after the last exchange. It has no bound.
func (t *tracker) now(here int64) (e clocksync.Estimate, ok bool) {
	if t.estimator == nil {
		return e, false
	}
	if !t.Raw {
		return t.estimator.At(here)
	}
	mine, mineSlope, mineBlur, ok1 := t.here.Ahead(here)
	theirs, theirSlope, theirBlur, ok2 := t.there.Ahead(here)
	if !ok1 || !ok2 { // the first exchanges are too close together: until there are more, what the last one says
		mine, theirs, mineSlope, theirSlope = t.here.Last(), t.there.Last(), 0, 0
	}
	if e, ok = t.estimator.At(here + mine); ok {
		e.Offset, e.Drift, e.Bound = e.Offset+mine-theirs, e.Drift+mineSlope-theirSlope, 0
		e.DriftBound += mineBlur + theirBlur
	}
	return e, ok
}

// known is the last instant of which it is known how the clocks differed.
func (t *tracker) known() int64 {
	if !t.Raw {
		return t.last
	}
	_, a, ok1 := t.here.Between()
	_, b, ok2 := t.there.Between()
	if !ok1 || !ok2 {
		return math.MinInt64
	}
	return min(a, b)
}

// correct tells the agent how its clock differs now.
func (t *tracker) correct(now int64) error {
	e, ok := t.now(now)
	if !ok || math.Abs(e.Drift) > wire.MostDrift {
		t.Unknown = true
		return nil
	}
	if e.DriftBound > max(driftKnown, math.Abs(e.Drift)) {
		e.Drift = 0
	}
	g := given{wire.Clock{Run: t.run, At: now + e.Offset, Offset: e.Offset, Drift: e.Drift}, now, math.MaxInt64}
	t.given = append(t.given, g)
	err := t.tell(&g.Clock)
	if done := clock.Now(); err == nil {
		for i := range t.given[:len(t.given)-1] {
			t.given[i].until = min(t.given[i].until, done)
		}
	}
	return err
}

// assess finds how wrong the corrections were, whichever the agent used, at instants from the last assessed one up to one.
func (t *tracker) assess(to int64) {
	if !t.begun {
		return
	}
	step := int64(assessEvery)
	for at := t.assessed; at <= min(to, t.known()); at += step {
		e, ok := t.at(at)
		switch {
		case !ok:
			t.Unknown = true
		case !t.placed:
			t.placed, t.Offset = true, e.Offset
		}
		if t.note != nil && at >= t.noted+int64(noteEvery) {
			t.noted = at
			if n, known := t.notedAt(at); known {
				t.note(n)
			}
		}
		for _, g := range t.given {
			// Between two instants the difference is on a line: a correction that began in between is assessed at both.
			if g.from > at+step || g.until < at-step {
				continue
			}
			wrong := g.Shift(at+e.Offset) - e.Offset
			wrong = max(wrong, -wrong)
			t.Proved = max(t.Proved, wrong+e.Bound)
			t.Expected = max(t.Expected, min(wrong+int64(asymmetry*float64(e.Delay)/2)+e.Queueing, wrong+e.Bound))
			t.Drift = e.Drift
		}
		t.assessed = at + step
	}
	t.given = slices.DeleteFunc(t.given, func(g given) bool { return g.until < t.assessed-2*step })
}

// follow follows the clock until ctx ends. mean is the mean time between exchanges.
func (t *tracker) follow(ctx context.Context, mean time.Duration) {
	corrected := clock.Now()
	for {
		select {
		case at := <-t.start:
			t.begun, t.assessed = true, at
		case <-ctx.Done():
			for range 3 { // so that the last instants have some behind them; an agent that is gone has none
				_ = t.exchange()
				time.Sleep(askEvery / 2)
			}
			t.assess(t.last)
			return
		case <-time.After(min(time.Duration(rand.ExpFloat64()*float64(mean)), 2*mean)):
		}
		_ = t.exchange() // an agent that does not answer now may do so later
		now := clock.Now()
		if now-corrected > int64(correctEvery) && now-t.last < int64(settles) {
			corrected = now
			_ = t.correct(now) // it is assessed as one that may be in use
		}
		t.assess(now - int64(settles))
	}
}

// end returns how the clock was followed until the agent was heard of last.
func (t *tracker) end(heard int64) *Followed {
	if !t.begun || t.assessed < heard-3*int64(settles) {
		t.Unknown = true
	}
	f := t.Followed
	return &f
}

// sharing are the agents that have a part in the load.
func (r *run) sharing() []*member {
	if r.Beside == nil {
		return r.members
	}
	return slices.DeleteFunc(slices.Clone(r.members), func(m *member) bool { return r.Beside(m.Segment) })
}

// oneClock reports whether all agents that share the load have one clock: the same by their account, and no exchange contradicts
// that.
func (r *run) oneClock() bool {
	all := r.sharing()
	if len(all) == 0 {
		return true
	}
	first := all[0]
	return !slices.ContainsFunc(all, func(m *member) bool {
		apart := m.Offset - first.Offset
		return m.Clock != first.Clock || max(apart, -apart) > m.Bound+first.Bound
	})
}

// follow follows the agents' clocks from now on, if they have several and messages come from one agent to another. Each agent has
// its first correction then.
func (r *run) follow(ctx, own context.Context) error {
	if !r.Crosses || r.oneClock() {
		return nil
	}
	asks, stop := context.WithCancel(own)
	followed, end := context.WithCancel(own)
	s := newStamps(r.Conn)
	var all sync.WaitGroup
	r.unfollow = func() {
		end()
		all.Wait()
		stop()
		s.close()
	}
	failed := make([]error, len(r.members))
	each(r.sharing(), func(m *member) {
		t := newTracker(r.Run, r.asking(asks, s, m), func(c *wire.Clock) error { return r.request(asks, m, wire.RequestClock, c) })
		var err error
		for range probes {
			if err == nil {
				err = t.exchange()
			}
		}
		if err == nil {
			err = t.correct(clock.Now())
		}
		m.tracker, failed[m.index] = t, err
	})
	for i, err := range failed {
		if err != nil {
			return r.clockUnknown(r.members[i], err)
		}
	}
	r.meet(own)
	for _, m := range r.sharing() {
		m.tracker.note = func(n noted) { r.loops.note(m.index, n) }
		all.Go(func() { m.tracker.follow(followed, max(askEvery, time.Duration(len(r.members))*askEach)) })
	}
	return nil
}

// following says that what agents are told of their clocks matters from an instant on: the common start.
func (r *run) following(at int64) {
	for _, m := range r.members {
		if m.tracker != nil {
			m.tracker.start <- at
		}
	}
}
