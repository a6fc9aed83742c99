package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Stretch is a period in which an action of the plan explains what was measured. All instants
// are ns from the start of the window.
type Stretch struct {
	Action   result.Action
	Number   int   // of the action in the plan, from 1
	Happened bool  // by the run's events; in results without such events: planned
	From     int64 // when it happened, or else was planned
	Over     int64 // when it was undone, or else was planned to be; From for one that does not last
	// To is when its effect ended: its backlog was gone, or the former latency and all connections
	// were back. It is the next action's instant, or the end of the records, if they do not show
	// that, and From if it did not happen.
	To int64
}

// Explains returns what the stretch's action explains, "" for an unknown action.
func (s *Stretch) Explains() scenario.Explanation {
	p, _ := scenario.ActionKind(s.Action.Kind).Properties()
	return p.Explains
}

// planned returns the actions of a header. Headers of earlier versions only have the instants at
// which consumers came and paused; their actions are made from these.
func planned(h *result.Header) []result.Action {
	if len(h.Actions) > 0 {
		return h.Actions
	}
	var acts []scenario.Action
	if b, err := scenario.ParseBegin(h.ConsumersFrom); err == nil {
		acts = append(acts, scenario.Action{At: scenario.Moment(b), Start: scenario.Consumers})
	}
	if p, err := scenario.ParsePause(h.ConsumersPause); err == nil {
		acts = append(acts, scenario.Action{At: scenario.Moment{After: p.At}, Pause: scenario.Consumers, For: p.For})
	}
	if acts == nil {
		return nil
	}
	return actionsOf(&scenario.Scenario{Actions: acts})
}

// actionsOf returns the acts of a scenario in the form of a header.
func actionsOf(s *scenario.Scenario) (all []result.Action) {
	for _, a := range s.Acts() {
		all = append(all, result.Action{Kind: string(a.Kind), Subject: string(a.Subject), At: int64(a.At.After), Filled: a.At.Filled, For: int64(a.Length()), Text: a.String()})
	}
	return all
}

// Stretches returns the stretches of the actions of a run, in the plan's order. all is what they
// cost, as the run's summary has it.
func Stretches(run *result.Run, all []result.Cost) []Stretch {
	out := placed(run)
	last := lastRecord(run)
	var steps []backlogReading
	for i := range out {
		s := &out[i]
		s.To = max(s.Over, last)
		switch s.Explains() {
		case scenario.ExplainsBacklog:
			if steps == nil {
				steps = backlogReadings(timedPoints(run))
			}
			if at := goneAfter(steps, s.From, s.Over); at > 0 {
				s.To = at
			}
		case scenario.ExplainsDisconnects, scenario.ExplainsOutage:
			s.To = felt(run, s, all, last)
		}
		if !s.Happened {
			s.To = s.From
		}
	}
	return out
}

// felt returns until when an action had an effect on latency and connections.
func felt(run *result.Run, s *Stretch, all []result.Cost, last int64) int64 {
	until, known, gone := last, false, s.Over
	if i := slices.IndexFunc(all, func(c result.Cost) bool { return slices.Contains(c.Actions, s.Number) }); i >= 0 {
		until, known, gone = all[i].Until, all[i].Effect != result.ImpactUnknown, max(s.Over, all[i].Gone)
	}
	lost, back := connections(run.Events, s.From, until)
	switch {
	case known:
		return max(gone, back)
	case lost && back == 0:
		return max(s.Over, until)
	}
	return max(s.Over, back) // a stall may end before a client notices
}

// placed returns the actions of a run by when they happened, without their effects.
func placed(run *result.Run) []Stretch {
	last := lastRecord(run)
	acts := planned(&run.Header)
	out := make([]Stretch, len(acts))
	for i, a := range acts {
		out[i] = stretchOf(run, a, i+1, last)
	}
	return out
}

// lastRecord is the end of a run's records, ns from the start of the window.
func lastRecord(run *result.Run) (last int64) {
	for i := range run.Series {
		last = max(last, run.Series[i].End)
	}
	return last
}

// stretchOf places an action in time by its events, or else by the plan. last is the end of the
// records, ns.
func stretchOf(run *result.Run, a result.Action, number int, last int64) Stretch {
	s := Stretch{Action: a, Number: number, From: a.At, Over: a.At + a.For, Happened: len(run.Header.Actions) == 0 && !a.Filled}
	if a.Filled {
		s.From, s.Over = last, last
	}
	if p, ok := scenario.ActionKind(a.Kind).Properties(); ok && (p.Scheduled || p.Run && run.Header.Segment != nil) {
		s.Happened = true // of a segment: the coordinator carries it out, and its events are in the merged result
	}
	for _, e := range run.Events {
		switch {
		case e.Workload != run.Header.Workload:
		case e.Action == nil && e.Kind == result.EventConsumers && a.Kind == string(scenario.ActionStart): // of an earlier version
			s.From, s.Over, s.Happened = e.At, e.At, true
		case e.Action == nil || e.Action.Number != number:
		case e.Kind == result.EventActionOver:
			s.Over = e.At
		case e.Kind != result.EventActionFailed:
			s.From, s.Over, s.Happened = e.At, e.At+a.For, true
		}
	}
	return s
}

// connections reports whether a connection was lost in a period, ns from the start of the window,
// and when all of these were made again; 0 if they were not, or none was lost.
func connections(events []result.Event, from, to int64) (lost bool, back int64) {
	away := int64(0)
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range events {
		switch {
		case e.At < from || e.At > to:
		case e.Kind == result.EventDisconnected:
			away, lost, back = away+e.Happened(), true, 0
		case e.Kind == result.EventReconnected && away > 0:
			if away -= e.Happened(); away <= 0 {
				away, back = 0, e.Until()
			}
		}
	}
	return lost, back
}

// actionsDone: an action of the plan failed or did not happen, or conditions of the network did not hold for all connections, so
// the run is not the planned one: INVALID. Actions planned for after the window's end, or missing from a run that was
// interrupted or aborted, do not count.
func actionsDone(e *evidence) (found []result.Reason) {
	invalid := func(text string) {
		found = append(found, result.Reason{Status: result.Invalid, Code: result.ReasonAction, Found: text, Means: "the run is not the one that was planned"})
	}
	for _, ev := range e.run.Events {
		if ev.Kind == result.EventActionFailed && ev.Workload == e.run.Header.Workload {
			invalid("an action failed: " + ev.Detail)
		}
	}
	for _, addresses := range uncovered(e.run) {
		invalid("the network conditions did not hold for connections to " + addresses + ", which target.url does not name")
	}
	if len(e.run.Header.Actions) == 0 || len(found) > 0 || e.in.CutShort {
		return found
	}
	for _, s := range placed(e.run) {
		if due := !s.Action.Filled && s.Action.At < e.in.End; due && !s.Happened && !e.in.Interrupted && !e.in.Aborted {
			invalid(fmt.Sprintf("the action %s did not happen", s.Action.Text))
		}
	}
	return found
}

// uncovered returns to which addresses clients connected, and for which a network's conditions did not hold, an item for each
// network.
func uncovered(run *result.Run) (all []string) {
	for i := range run.Events {
		e := &run.Events[i]
		n := e.Network
		if n == nil && e.Action != nil && e.Workload == run.Header.Workload {
			n = e.Action.Network
		}
		if n != nil && len(n.Uncovered) > 0 {
			all = append(all, strings.Join(n.Uncovered, ", "))
		}
	}
	return all
}

// unfinished returns the first action of those whose effect lasted to the end of the window, and of
// those before whose effects met theirs; nil: there was none.
func (e *evidence) unfinished() (first *Stretch) {
	from := e.in.End
	for again := true; again; {
		again = false
		for i := range e.acts {
			if s := &e.acts[i]; s.From < from && s.To >= from {
				first, from, again = s, s.From, true
			}
		}
	}
	return first
}

// brokerEnded: a process of the broker ended unexpectedly. One that an action ended has no such event, and
// no action explains that another one ended meanwhile.
func brokerEnded(e *evidence) []result.Reason {
	n, words := int64(0), ""
	means := "no action of the plan ended it, and the messages had been resolved by then"
	for i := range e.run.Events {
		if ev := &e.run.Events[i]; ev.Kind == result.EventBrokerEnded && ev.At >= 0 {
			n, words = n+ev.Happened(), cmp.Or(words, ev.Detail)
			if ev.At < e.timed[len(e.timed)-1].End {
				means = "no action of the plan ended it, and the figures have its absence in them"
			}
		}
	}
	if n == 0 {
		return nil
	}
	found := "a process of the broker ended unexpectedly"
	if n > 1 {
		found = fmt.Sprintf("processes of the broker ended by themselves, %s", spell.Times(n))
	}
	if words != "" {
		found += ": " + shortened(words)
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonBrokerEnded, Found: found, Means: means})
}

// Line says in one line when the stretch's action was planned, when it happened and how long it
// lasted.
func (s *Stretch) Line() string {
	p, _ := scenario.ActionKind(s.Action.Kind).Properties()
	plan := "planned for " + spell.Period(time.Duration(s.Action.At))
	if s.Action.Filled {
		plan = "planned for when everything was sent"
	}
	switch {
	case !s.Happened:
		return plan + ", did not happen"
	case p.Scheduled:
		return plan + ", by the schedule"
	}
	text := "at " + span(s.From) + " (" + plan + ")"
	if s.Action.For > 0 {
		text += ", lasted " + span(s.Over-s.From)
	}
	if p.Explains != "" && s.To > s.Over {
		text += ", felt for " + span(s.To-s.From)
	}
	return text
}
