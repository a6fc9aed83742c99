package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// unfinished returns the names of the agents that did not do all that they had due in a window that ended at end.
func unfinished(f *result.Fleet, end int64) (names []string) {
	if f == nil {
		return nil
	}
	for i := range f.Agents {
		if a := &f.Agents[i]; a.Unfinished(end) {
			names = append(names, a.Name)
		}
	}
	return names
}

// agentsLost: the results of some agents end in mid-run, or their windows ended before those of the others. From then
// on the system had another load than the scenario's.
func agentsLost(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	lost := unfinished(f, e.in.End)
	if len(lost) == 0 {
		return nil
	}
	r := result.Reason{Status: result.Suspect, Code: result.ReasonAgentLost,
		Found: fmt.Sprintf("of %s %s did not finish: %s", spell.Plural(int64(len(f.Agents)), "agent"), spell.Count(int64(len(lost))), strings.Join(lost, ", ")),
		Means: "what their segments had due from then on was not sent, and the system under test had less load"}
	if c := e.run.Closing; c != nil && c.Unobserved > 0 {
		r.Means = fmt.Sprintf("it is not known whether %s came to them; what other agents sent or received is accounted for", spell.Plural(c.Unobserved, "message"))
	}
	return single(r)
}

// agentsInvalid: an agent's own result is suspect or worse. Its figures are part of those of the whole, in which they
// need not show.
func agentsInvalid(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	if f == nil {
		return nil
	}
	var invalid []string
	for _, a := range f.Agents {
		if !a.Lost && a.Status != result.Valid {
			invalid = append(invalid, a.Name+" ("+string(a.Status)+": "+codesOf(a.Codes)+")")
		}
	}
	if len(invalid) == 0 {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonAgent,
		Found: "alone, the results of these agents are not VALID: " + strings.Join(invalid, ", "),
		Means: "their messages are among those of the whole"})
}

// codesOf lists codes of reasons.
func codesOf(all []result.ReasonCode) string {
	var names []string
	for _, c := range all {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// agentsApart: the windows of some agents began later than those of others. Meanwhile the system under test had
// less load than the scenario's.
func agentsApart(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	if f == nil || len(f.Agents) < 2 || e.in.End <= 0 {
		return nil
	}
	apart, compared := startsApart(f.Agents)
	by, or := "clocks that were compared before the start", ""
	if !compared {
		by, or = "the clocks of their machines", ", or the clocks differ"
	}
	r := result.Reason{Code: result.ReasonAgentsApart, Found: fmt.Sprintf("the windows of the agents began up to %s apart, by %s", spell.Duration(apart), by),
		Means: "they had the system under test to themselves for that time" + or}
	if apart >= e.in.End {
		r.Status = result.Invalid
		return single(r)
	}
	if apart == 0 {
		return nil
	}
	return e.suspectFrom(float64(apart)/float64(e.in.End), r)
}

// agentsDiffer: agents reached servers of different versions, or such that promise different things. The whole is then no figure
// of either.
func agentsDiffer(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	if f == nil {
		return nil
	}
	var found []string
	for i := range f.Agents {
		a := &f.Agents[i]
		var has []string
		for _, name := range []string{"product", "version", "protocol"} {
			if v := a.Broker[name]; v != "" {
				has = append(has, v)
			}
		}
		if a.Semantics != nil && a.Semantics.Levels != e.run.Header.Semantics.Levels {
			has = append(has, "other guarantees")
		}
		if len(has) > 0 {
			found = append(found, a.Name+" ("+strings.Join(has, ", ")+")")
		}
	}
	if len(found) == 0 {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonAgentsDiffer,
		Found: "not all agents met the same broker: " + strings.Join(found, ", "),
		Means: "the figures of the whole are those of several"})
}

// startsApart returns how far apart the windows of agents began at most. compared says that it is by the common start, which was
// given on each agent's clock with a bound on how wrong that is, and not by the wall clocks of the machines.
func startsApart(agents []result.Agent) (apart int64, compared bool) {
	least, most, bounds := int64(math.MaxInt64), int64(math.MinInt64), []int64{0}
	first, last := agents[0].Started, agents[0].Started
	compared = true
	for _, a := range agents {
		if a.Started.Before(first) {
			first = a.Started
		}
		if a.Started.After(last) {
			last = a.Started
		}
		switch {
		case a.Start != nil:
			least, most, bounds = min(least, a.Start.Late), max(most, a.Start.Late), append(bounds, a.Start.Proved)
		case !a.Lost: // of one that was lost nothing may be known
			compared = false
		}
	}
	if n := len(bounds); compared && n > 1 {
		slices.Sort(bounds)
		return most - least + bounds[n-1] + bounds[n-2], true
	}
	return last.Sub(first).Nanoseconds(), false
}

// overThree is what loops over three clocks show of all agents.
type overThree struct {
	result.AgentClock
	agents, closed int // those of which a loop was closed
}

// loopsOf returns the largest that is left over.
func loopsOf(agents []result.Agent) (o overThree) {
	for _, a := range agents {
		c := a.Clock
		if c == nil {
			continue
		}
		o.agents++
		if c.Loops > 0 {
			o.closed++
		}
		o.Loop, o.Open = max(o.Loop, c.Loop), o.Open || c.Open
	}
	return o
}

func (o overThree) String() string {
	switch o.closed {
	case 0:
		return "not closed over three clocks, since agents found no way to each other"
	case o.agents:
		return "closed over three clocks within " + spell.Duration(o.Loop)
	}
	return fmt.Sprintf("closed over three clocks within %s for %d of %s", spell.Duration(o.Loop), o.closed, spell.Plural(int64(o.agents), "agent"))
}

// isOneWay reports whether a latency ends at another process than it began where a fleet has roles.
func isOneWay(m result.Metric) bool {
	return m == result.DeliveryResponse || m == result.DeliveryService || m == result.DeliveryLast
}

// tooEarly: a message arrived before it was sent, by more than what is proved of the clocks. So the proof rests on something that is
// not so, and says nothing of any other message either.
func (e *evidence) tooEarly(early, proved int64) (found []result.Reason) {
	for _, m := range e.latencies() {
		if !isOneWay(m) {
			continue
		}
		for name, x := range e.summary.Histograms[m].All() {
			if x.Needs > 0 {
				continue
			}
			found = append(found, result.Reason{Status: result.Invalid, Code: result.ReasonClocks, Metric: m, Percentile: name,
				Found: fmt.Sprintf("%s: a message arrived %s before it was sent, by clocks that are proved right within %s, which is impossible", m, spell.Duration(early), spell.Duration(proved)),
				Means: "a clock was not what the proof takes it to be, and how wrong latencies from one agent to another are is not known"})
			break
		}
	}
	return found
}

// How much of a one-way figure the clocks may be wrong by, proved, before it is suspect, and before it says nothing.
const clocksSuspect, clocksInvalid = 0.1, 0.5

// clocks: messages came from agents with other clocks, and what is proved of these clocks is not much less than the latencies. It
// is judged by the lowest percentile: what it holds for, it holds for those above it.
func clocks(e *evidence) (found []result.Reason) {
	f := e.run.Header.Fleet
	switch {
	case f == nil && e.run.Header.Clock.Shifted:
		return single(result.Reason{Status: result.Invalid, Code: result.ReasonClocks, Found: "messages came from processes with other clocks",
			Means: "how wrong their latencies are at most, only the merged result of all processes says"})
	case f == nil:
		return nil
	}
	proved, expected, crosses, known := f.OneWay()
	switch {
	case !crosses:
		return nil
	case !known:
		return single(result.Reason{Status: result.Invalid, Code: result.ReasonClocks,
			Found: "messages came from agents with other clocks, and a clock stepped, was slewed fast, was not followed all the time, or contradicts two others",
			Means: "how wrong latencies from one agent to another are is not known"})
	}
	early, _ := highest(e.closing(), result.VitalDeliveryEarly)
	if int64(early) > proved {
		return e.tooEarly(int64(early), proved)
	}
	of := "by clocks that nobody slews"
	if !slices.ContainsFunc(f.Agents, func(a result.Agent) bool { return a.Clock != nil && 2*a.Clock.Kernel <= a.Clock.Exchanges }) {
		of += " and time stamps of kernels"
	}
	if slices.ContainsFunc(f.Agents, func(a result.Agent) bool { return a.Clock != nil && !a.Clock.Raw }) {
		of = "if no clock changes its rate by more than 10 ppm in a second"
	}
	text := fmt.Sprintf("latencies from one agent to another are right within %s, proved %s", spell.Duration(proved), of)
	symmetric := int64(early) <= expected
	over := loopsOf(f.Agents)
	switch {
	case symmetric && over.Open:
		text += fmt.Sprintf(", and %s expected: the comparisons do not close over three clocks, since agents that ask each other directly find offsets up to %s away, more than ways explain that are symmetric within a tenth", spell.Duration(expected), spell.Duration(over.Loop))
	case symmetric:
		text += fmt.Sprintf(", and %s if also the fastest ways between the clocks are symmetric within a tenth; %s", spell.Duration(expected), over)
	default:
		text += fmt.Sprintf(", and not within the expected %s, since a message arrived %s before it was sent: the fastest ways between the clocks are not symmetric within a tenth", spell.Duration(expected), spell.Duration(int64(early)))
	}
	for _, m := range e.latencies() {
		if !isOneWay(m) {
			continue
		}
		for name, x := range e.summary.Histograms[m].All() {
			if x.Needs > 0 {
				continue
			}
			r := result.Reason{Code: result.ReasonClocks, Metric: m, Percentile: name}
			hoped := float64(expected) / float64(max(x.Value, 1))
			switch share := float64(proved) / float64(max(x.Value, 1)); {
			case share >= clocksSuspect && f.Bound == result.BoundExpected && symmetric && hoped < clocksInvalid:
				r.Status, r.Means = result.Suspect, fmt.Sprintf("of p%s, %s, what is proved is %s: it is judged by the expected error, ± %s, as was asked for, and nothing proves that the ways are symmetric",
					name, spell.Duration(x.Value), spell.Percent(share), spell.Duration(expected))
			case share >= clocksInvalid:
				r.Status, r.Means = result.Invalid, fmt.Sprintf("of p%s, %s, that is %s: it does not say how long messages took", name, spell.Duration(x.Value), spell.Percent(share))
			case share >= clocksSuspect:
				r.Status, r.Means = result.Suspect, fmt.Sprintf("of p%s, %s, that is %s", name, spell.Duration(x.Value), spell.Percent(share))
			}
			if r.Status != "" {
				r.Found = string(m) + ": " + text
				found = append(found, r)
			}
			break
		}
	}
	if found == nil {
		return single(result.Reason{Status: result.Valid, Code: result.ReasonClocks, Found: text})
	}
	return found
}
