package judge

import (
	"cmp"
	"fmt"
	"slices"
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
	// To is when its effect ended: its backlog was gone, all connections were back, or the nodes. It is
	// the end of the records if they do not show that, and From if it did not happen.
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

// Stretches returns the stretches of the actions of a run, in the plan's order.
func Stretches(run *result.Run) []Stretch {
	var last int64
	for _, p := range run.Series {
		last = max(last, p.End)
	}
	acts := planned(&run.Header)
	all := make([]Stretch, len(acts))
	for i, a := range acts {
		all[i] = stretchOf(run, a, i+1, last)
	}
	var steps []backlogReading
	for i := range all {
		s := &all[i]
		s.To = max(s.Over, last)
		switch {
		case !s.Happened:
			s.To = s.From
		case s.Explains() == scenario.ExplainsBacklog:
			if steps == nil {
				steps = backlogReadings(timedPoints(run))
			}
			if at := goneAfter(steps, s.From, s.Over); at > 0 {
				s.To = at
			}
		case s.Explains() == scenario.ExplainsDisconnects:
			if at := connectedAfter(run.Events, s.From); at > 0 {
				s.To = at
			}
		case s.Explains() == scenario.ExplainsOutage:
			if !disconnected(run.Events, s.From, last) { // a stall may end before a client notices
				s.To = s.Over
			} else if at := connectedAfter(run.Events, s.From); at > 0 {
				s.To = max(s.Over, at)
			}
		}
	}
	return all
}

// stretchOf places an action in time by its events, or else by the plan. last is the end of the
// records, ns.
func stretchOf(run *result.Run, a result.Action, number int, last int64) Stretch {
	s := Stretch{Action: a, Number: number, From: a.At, Over: a.At + a.For, Happened: len(run.Header.Actions) == 0 && !a.Filled}
	if a.Filled {
		s.From, s.Over = last, last
	}
	if p, ok := scenario.ActionKind(a.Kind).Properties(); ok && p.Scheduled {
		s.Happened = true
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

// connectedAfter returns when all connections lost from an instant on, ns, were made again; 0 if
// they never were, or if none was lost.
func connectedAfter(events []result.Event, from int64) int64 {
	lost := int64(0)
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range events {
		switch {
		case e.At < from:
		case e.Kind == result.EventDisconnected:
			lost += e.Happened()
		case e.Kind == result.EventReconnected && lost > 0:
			if lost -= e.Happened(); lost <= 0 {
				return e.Until()
			}
		}
	}
	return 0
}

// disconnected reports whether a connection was lost in a period, ns from the start of the window.
func disconnected(events []result.Event, from, to int64) bool {
	return slices.ContainsFunc(events, func(e result.Event) bool {
		return e.Kind == result.EventDisconnected && e.At >= from && e.At <= to
	})
}

// explained reports whether the plan has an action that explains what.
func explained(run *result.Run, what scenario.Explanation) bool {
	return slices.ContainsFunc(planned(&run.Header), func(a result.Action) bool {
		p, _ := scenario.ActionKind(a.Kind).Properties()
		return p.Explains == what
	})
}

// actionsDone: an action of the plan failed or did not happen, so the run is not the planned
// one: INVALID. Actions planned for after the window's end, or missing from a run that was
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
	if len(e.run.Header.Actions) == 0 || len(found) > 0 || e.in.CutShort {
		return found
	}
	for _, s := range Stretches(e.run) {
		if due := !s.Action.Filled && s.Action.At < e.in.End; due && !s.Happened && !e.in.Interrupted && !e.in.Aborted {
			invalid(fmt.Sprintf("the action %s did not happen", s.Action.Text))
		}
	}
	return found
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
