package scenario

import (
	"slices"
	"time"
)

const (
	// maxConnections limits the default number of connections; a scenario may ask for more.
	maxConnections = 16
	// maxEachConnections is that limit if each producer needs its own connection; it is
	// also the largest number that a scenario may ask for.
	maxEachConnections = 65536
)

// Normalise fills in every default that does not depend on the broker or the
// machine, so that the scenario is complete. Normalising twice changes nothing
// more. Call it after [Scenario.Apply], not before: defaults depend on the values
// given (a round trip has one consumer per producer), and once filled in they
// count as given.
//
// Left as they are: the rate where it has no meaning (closed loops; step, ramp,
// burst and trace, which give their own), arrivals where there is no schedule
// (flat out, closed loops), the duration where the number of messages ends the
// window, InFlight.Messages and Consumer.Ack, which are the driver's.
func (s *Scenario) Normalise() {
	fill(&s.Version, Version)
	fill(&s.Seed, 1)
	fill(&s.Target.Driver, "nats")
	if len(s.Target.Options) == 0 {
		s.Target.Options = nil
	}
	if len(s.Target.Settings) == 0 {
		s.Target.Settings = nil
	}
	if len(s.Objectives) == 0 {
		s.Objectives = nil
	}
	if f := s.Fleet; f != nil && !f.Divided() && !f.Probed() && f.Bound == "" { // fleet: {} takes roles back
		s.Fleet = nil
	}
	if len(s.Workloads) == 0 {
		s.Workloads = nil
	}
	if len(s.Actions) == 0 {
		s.Actions = nil
	}
	s.Workloads = slices.Clone(s.Workloads) // others may have it
	s.fillGiven()
	late := false
	for name, w := range s.loads() {
		w.normalise()
		late = late || s.startsLate(name, w)
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		w.Objectives = w.named(w.Objectives)
	}
	if len(s.Workloads) == 0 {
		s.Objectives = s.Workload.named(s.Objectives)
		if !s.Phases.Until.IsZero() {
			fill(&s.Phases.Until.Metric, s.Workload.Pattern.response())
		}
	}

	p := &s.Phases
	switch {
	case p.Warmup != 0 || p.NoWarmup:
	case len(s.Workloads) == 0 && s.startsLate("", &s.Workload) || s.Workload.Pattern == Consume:
		p.NoWarmup = true // warm-up messages would be part of the backlog, or missing from what is consumed
	default:
		p.Warmup, s.chosen = 2*time.Second, true
	}
	switch {
	case s.Workload.Messages > 0:
	case s.Workload.Arrivals.Kind == Step:
		fill(&p.Duration, s.Workload.Arrivals.length())
	default:
		if len(s.Workloads) == 0 {
			fill(&p.Duration, s.stopOf("", &s.Workload))
		}
		fill(&p.Duration, 10*time.Second)
	}
	if !p.Until.IsZero() && p.Duration <= MaxDuration {
		fill(&p.AtMost, min(max(10*p.Duration, time.Minute), MaxDuration))
		// The run may end after its least length, which must have enough intervals; the
		// file of the longest run must stay small.
		const step = 10 * time.Millisecond
		least := (p.AtMost/mostIntervals + step - 1).Truncate(step)
		fill(&s.Record.Interval, min(max(IntervalFor(p.Duration), least), time.Minute))
	}
	if late {
		fill(&p.Drain, lateDrain) // a backlog takes its time
		if p.Duration == 0 {
			fill(&s.Record.Interval, 100*time.Millisecond) // a fill may be short
		}
	}
	fill(&p.Drain, 10*time.Second)
	if s.CanLose() && s.Target.Topic == "" { // what others have there is not ours to read
		fill(&p.ReadBack, DefaultReadBack)
	}
	for _, w := range s.loads() {
		fill(&w.Timeout, p.Drain)
	}
	fill(&s.Record.Interval, IntervalFor(p.Duration))
	fill(&s.Record.Digits, 3)
	fill(&s.Record.Probe, ProbeAuto)
}

// named returns the objectives, each with the name of its metric filled in, see
// [Objective.Of].
func (w *Workload) named(all []Objective) []Objective {
	all = slices.Clone(all) // others may have it
	for i := range all {
		all[i] = all[i].Of(w.Pattern)
	}
	return all
}

func (w *Workload) normalise() {
	fill(&w.Pattern, Deliver)
	fill(&w.Loop, Open)
	fill(&w.Size, FixedSize(256*Byte))
	fill(&w.InFlight.Bytes, 256*MiB)
	if w.Pattern != Consume {
		w.normaliseSending()
	}
	switch w.Pattern {
	case Publish:
	case RoundTrip:
		fill(&w.Consumers, w.Producers)
		fill(&w.Topics, w.Producers)
	default:
		fill(&w.Consumers, 1)
	}
	fill(&w.Topics, 1)
	fill(&w.Connections.Consumers, min(w.Consumers, maxConnections))
	w.Connections.fillChurn()
}

// normaliseSending fills in the defaults of a load that has producers.
func (w *Workload) normaliseSending() {
	if w.Loop == Closed {
		fill(&w.Outstanding, 1)
	} else {
		if w.Arrivals.Kind.usesRate() {
			fill(&w.Rate, PerSecond(1000))
		}
		if !w.Rate.IsMax() && w.Arrivals.isZero() {
			w.Arrivals.Kind = Constant
		}
	}
	if !w.Keys.IsZero() {
		fill(&w.KeySize, 16*Byte)
	}
	fill(&w.Producers, 1)
	connections := maxConnections
	if w.InFlight.Each > 0 {
		connections = maxEachConnections
	}
	fill(&w.Connections.Producers, min(w.Producers, connections))
}

// DefaultReadBack is that of Phases.ReadBack where an action can lose messages.
const DefaultReadBack = 2 * time.Minute

// lateDrain is the default of Phases.Drain where consumers come late.
const lateDrain = 10 * time.Minute

// Retains reports whether the workload's topics, groups and messages outlive the run.
func (w *Workload) Retains() bool {
	return w.Lifetime == LifetimeKeep || w.Lifetime == "" && w.Existing != ""
}

// DefaultWarmup reports whether Normalise chose Phases.Warmup, because neither a file nor
// a flag gave it: a broker that is started for the run may then get extra warm-up before it.
func (s *Scenario) DefaultWarmup() bool { return s.chosen && s.Phases.Warmup == 2*time.Second }

// IntervalFor returns the default of Record.Interval, which follows the window. It is a
// hundredth of the window, from 5 ms to 1 s: a short run then has enough intervals to
// compute confidence intervals that do not assume independent messages. For a window beyond
// 10,000 seconds it is a ten-thousandth of it, in whole seconds and at most a minute, so that
// the file stays small. It is one second if the length of the window is not known (0).
func IntervalFor(window time.Duration) time.Duration {
	switch {
	case window <= 0:
		return time.Second
	case window > mostIntervals*time.Second:
		return min((window/mostIntervals + time.Second - 1).Truncate(time.Second), time.Minute)
	}
	step := time.Millisecond
	if window > 10*time.Second {
		step = 10 * time.Millisecond
	}
	return min(max((window/100).Truncate(step), 5*time.Millisecond), time.Second)
}

// mostIntervals is about how many intervals of the default length a long window has.
const mostIntervals = 10_000

// fill sets v to a default if it is zero.
func fill[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// isZero reports whether nothing of a is given.
func (a *Arrivals) isZero() bool {
	return a.Kind == "" && !a.Random && len(a.Steps) == 0 && a.From.IsZero() && a.To.IsZero() &&
		a.Amplitude == 0 && a.Period == 0 && a.Count == 0 && a.File == ""
}

// length returns the total length of the steps; above MaxDuration it is MaxDuration + 1.
func (a *Arrivals) length() time.Duration {
	total := time.Duration(0)
	for _, s := range a.Steps {
		if s.For > MaxDuration-total {
			return MaxDuration + 1
		}
		total += s.For
	}
	return total
}
