package judge

import (
	"fmt"
	"math"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// generatorSide reports whether a source of pauses is the generator's or its
// machine's and not the broker's or the network's.
func generatorSide(source string) bool {
	switch source {
	case result.PauseThread, result.PauseGoroutine, result.PauseProcess, result.PauseIdle, result.PauseGC,
		result.PauseThrottled, result.PauseSteal, result.PauseOthers, result.PauseSwap, result.PauseStarved:
		return true
	}
	return false
}

// description is what users call a source, and what to do about it.
func description(source string, idle bool) (what, remedy string) {
	switch source {
	case result.PauseThread:
		return "a thread of the generator that woke up late", "give the generator more processor or pin it"
	case result.PauseGoroutine:
		return "a goroutine of the generator that Go's scheduler ran late", "give the generator more processors, or fewer producers and consumers"
	case result.PauseProcess:
		if idle {
			return "a pause of sixnines itself, not of the machine", "look for what stopped the process: a signal, a debugger, a container that was paused"
		}
		return "a pause of sixnines itself", "look for what stopped the process: a signal, a container's limit, the hypervisor"
	case result.PauseIdle:
		return "a pause of the whole machine", "the hypervisor or the kernel paused it: run again on a machine of your own"
	case result.PauseGC:
		return "a pause for Go's garbage collection in the generator", "raise GOMEMLIMIT or lower the rate"
	case result.PauseThrottled:
		return "throttling by a control group", "raise its cpu.max, or start the generator outside of it"
	case result.PauseSteal:
		return "the hypervisor giving processor time to others (steal)", "run on a machine of your own, or at another time"
	case result.PauseOthers:
		return "other processes on the generator's processors", "stop them, or give the generator processors of its own"
	case result.PauseSwap:
		return "swapping (memory read back from disk)", "free memory or switch swapping off"
	case result.PauseStarved:
		return "the broker waiting for a processor of this machine", "give the broker processors of its own, or lower the rate"
	case result.PauseRetransmit:
		return "TCP retransmissions", "look at the network's losses and queues"
	case eventDisconnected:
		return "a lost connection", "see its reason: --show events"
	case eventBrokerEnded:
		return "the end of a process of the broker", "see when and how: --show events"
	}
	return fmt.Sprintf("the event %q", source), "see what it says: --show events"
}

// sourceInBrief is a source in a few words, for headlines.
func sourceInBrief(source string) string {
	switch source {
	case result.PauseThread:
		return "late threads of the generator"
	case result.PauseGoroutine:
		return "late goroutines of the generator"
	case result.PauseProcess:
		return "generator paused"
	case result.PauseIdle:
		return "machine paused"
	case result.PauseGC:
		return "garbage collection"
	case result.PauseThrottled:
		return "throttling"
	case result.PauseOthers:
		return "other processes on these processors"
	case result.PauseSwap:
		return "swapping"
	case result.PauseStarved:
		return "broker without processor"
	}
	return strings.ReplaceAll(source, "-", " ")
}

// Describe is what users call a source of pauses or an event, and what to do about
// it.
func Describe(source string) (what, remedy string) { return description(source, false) }

// causeText is the line of a cause.
func causeText(s *suspect, messages int, idle bool) string {
	what, remedy := description(s.source, idle && s.cause.Named)
	expected := s.cause.Expected * float64(messages)
	chance := "less than 1"
	if expected >= 1 {
		chance = spell.Count(int64(math.Round(expected)))
	}
	text := fmt.Sprintf("%s of the slowest %s overlapped %s (%s expected by chance)", spell.Count(s.cause.Messages), spell.Count(messages), what, chance)
	switch {
	case s.explainsStops:
		return text + ", which is when the generator was paused: " + remedy
	case s.cause.Named:
		return text + ": " + remedy
	case s.explainedBy != "":
		by, _ := description(s.explainedBy, false)
		return text + "; the cause was " + by
	}
	return text + ": coincided, not shown to be a cause"
}

// watchedIdle reports whether an idle process beside the generator could tell a pause
// of the process from one of the machine.
func watchedIdle(run *result.Run) bool {
	for i := range run.Series {
		if _, ok := run.Series[i].Vitals[vitalIdleMax]; ok {
			return true
		}
	}
	return false
}

// attributed: most of the slowest messages overlap a named cause on the generator's
// side. The percentiles that lie among them are then its figures as much as the
// broker's. What another reason names for the same is not attributed twice.
func attributed(e *evidence) (found []result.Reason) {
	attributedTo := map[string]bool{}
	for _, g := range []gate{frozen, throttled, steal, swap, starved, collector, selfInflicted} {
		for _, r := range g(e) {
			if r.Status != result.Valid {
				attributedTo[string(r.Code)] = true
			}
		}
	}
	if c := e.causeOfStops(); c != nil && attributedTo[string(result.ReasonFrozen)] {
		attributedTo[c.Source] = true
	}
	for _, a := range e.summary.Attribution {
		d := e.summary.Histograms[a.Metric]
		cause := e.mainCause(a.Metric)
		if cause == nil || d == nil || attributedTo[cause.Source] || attributedTo[string(result.ReasonSelfInflicted)] {
			continue
		}
		for _, name := range result.Percentiles() {
			v, ok := d.Percentiles[name]
			// The tail reaches a percentile if it has all that is beyond it.
			if !ok || v < a.From || d.OwnShare[name] > ownLagSuspect {
				continue
			}
			found = append(found, result.Reason{Status: result.Suspect, Code: result.ReasonAttribution, Metric: a.Metric, Percentile: name, Brief: sourceInBrief(cause.Source),
				Text: fmt.Sprintf("%s p%s (%s) lies among messages that the generator or its machine made slow: %s", a.Metric, name, span(v), cause.Text)})
		}
	}
	return found
}

// mainCause is the named cause on the generator's side that most of a metric's
// slowest messages overlap, if more than half of them overlap such a cause at all.
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

// causeOfStops is the cause of the pauses that the slowest messages overlap, as the
// first metric that has one names it.
func (e *evidence) causeOfStops() *result.Cause {
	for i := range e.summary.Attribution {
		if c := e.mainCause(e.summary.Attribution[i].Metric); c != nil {
			return c
		}
	}
	return nil
}

// because names, in the reason of another gate, the cause of what is at v of a
// metric, if the slowest messages are among that and have one.
func (e *evidence) because(m result.Metric, v int64) string {
	for i := range e.summary.Attribution {
		if a := &e.summary.Attribution[i]; a.Metric == m && v >= a.From {
			if c := e.mainCause(m); c != nil {
				return "; " + c.Text
			}
		}
	}
	return ""
}
