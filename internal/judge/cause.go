package judge

import (
	"fmt"
	"math"

	"sixnines/internal/spell"
	"sixnines/result"
)

// generatorSide reports whether a source belongs to the generator or its machine, and not to
// the broker or the network.
func generatorSide(source string) bool {
	by := result.PauseSource(source).Properties().By
	return by.OnGeneratorSide() || by == result.ByHost
}

// Describe returns the user's name of a source of pauses or of a kind of event, and what to do
// about it. Both are empty for an unknown source.
func Describe(source string) (what, remedy string) {
	if p := result.PauseSource(source).Properties(); p.What != "" {
		return p.What, p.Try
	}
	e := result.EventKind(source).Properties()
	return e.What, e.Try
}

// causeWords returns the text of a finding about a cause. try is what to do about it, and is
// empty for a cause that is not named.
func causeWords(s *suspect, messages int, idle bool) (found, try string) {
	what, remedy := Describe(s.source)
	if s.source == string(result.PauseProcess) && idle && s.cause.Named {
		what, remedy = "a pause of sixnines itself, not of the machine", "look for what stopped the process: a signal, a debugger, a container that was paused"
	}
	expected := s.cause.Expected * float64(messages)
	chance := "less than 1"
	if expected >= 1 {
		chance = spell.Count(int64(math.Round(expected)))
	}
	text := fmt.Sprintf("%s of the slowest %s overlapped %s (%s expected by chance)", spell.Count(s.cause.Messages), spell.Count(messages), what, chance)
	switch {
	case s.explainsStops:
		return text + ", which is when the generator was paused", remedy
	case s.cause.Named:
		return text, remedy
	case s.explainedBy != "":
		by, _ := Describe(s.explainedBy)
		return text + "; the cause was " + by, ""
	}
	return text + ": coincided, not shown to be a cause", ""
}

// watchedIdle reports whether an idle process beside the generator could tell a pause
// of the process from one of the machine.
func watchedIdle(run *result.Run) bool {
	for i := range run.Series {
		if _, ok := run.Series[i].Vitals[result.VitalHiccupIdleMax]; ok {
			return true
		}
	}
	return false
}

// attributed: most of the slowest messages overlap a named cause on the generator's
// side. The percentiles among them then describe the generator as much as the broker.
// A cause that another reason already reports is not reported again.
func attributed(e *evidence) (found []result.Reason) {
	attributedTo := map[result.ReasonCode]bool{}
	for _, g := range []gate{frozen, throttled, steal, swap, starved, collector, selfInflicted} {
		for _, r := range g(e) {
			if r.Status != result.Valid {
				attributedTo[r.Code] = true
			}
		}
	}
	explained := "" // the source that the reason "frozen" already names
	if c := e.causeOfStops(); c != nil && attributedTo[result.ReasonFrozen] {
		explained = c.Source
	}
	for _, a := range e.summary.Attribution {
		d := e.summary.Histograms[a.Metric]
		cause := e.mainCause(a.Metric)
		if cause == nil || d == nil {
			continue
		}
		source := result.PauseSource(cause.Source).Properties()
		if cause.Source == explained || attributedTo[source.Reason] || attributedTo[result.ReasonSelfInflicted] {
			continue
		}
		for name, f := range d.All() {
			v := f.Value
			// The tail reaches a percentile if it has every message above it.
			if v < a.From || f.OwnShare != nil && *f.OwnShare > ownLagSuspect {
				continue
			}
			found = append(found, result.Reason{Status: result.Suspect, Code: result.ReasonAttribution, Metric: a.Metric, Percentile: name, Brief: source.Brief,
				Found: fmt.Sprintf("%s p%s (%s) lies among messages that the generator or its machine delayed", a.Metric, name, span(v)), Means: cause.Found, Try: cause.Try})
		}
	}
	return found
}

// mainCause returns the named cause on the generator's side that most of a metric's slowest
// messages overlap; nil unless more than half of them overlap any such cause.
func (e *evidence) mainCause(m result.Metric) *result.Cause {
	for i := range e.summary.Attribution {
		a := &e.summary.Attribution[i]
		if a.Metric != m || 2*e.attributed[m] <= a.Messages {
			continue
		}
		for n := range a.Causes {
			if c := &a.Causes[n]; c.Named && generatorSide(c.Source) {
				return c // they are in order of share
			}
		}
	}
	return nil
}

// causeOfStops returns the main cause of the first metric that has one, else nil.
func (e *evidence) causeOfStops() *result.Cause {
	for i := range e.summary.Attribution {
		if c := e.mainCause(e.summary.Attribution[i].Metric); c != nil {
			return c
		}
	}
	return nil
}

// causeAt returns the main cause of a metric's slowest messages if the value v, ns, lies among
// them; else nil.
func (e *evidence) causeAt(m result.Metric, v int64) *result.Cause {
	for i := range e.summary.Attribution {
		if a := &e.summary.Attribution[i]; a.Metric == m && v >= a.From {
			return e.mainCause(m)
		}
	}
	return nil
}

// because adds to a reason the cause of what it found, and what to do about that. The reason is
// unchanged if c is nil.
func because(r result.Reason, c *result.Cause) result.Reason {
	if c != nil {
		r.Means, r.Try = joined(r.Means, c.Found), c.Try
	}
	return r
}
