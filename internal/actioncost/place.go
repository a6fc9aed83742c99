package actioncost

import (
	"slices"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Subject is what an action cost.
type Subject string

// The subjects.
const (
	Detected    Subject = "detected"
	Unavailable Subject = "unavailable"
	Recovered   Subject = "recovered"
	LostAcked   Subject = "lost_acked"
	Duplicated  Subject = "duplicated"
	Redelivered Subject = "redelivered"
)

// Subjects lists them in the order in which they are shown.
func Subjects() []Subject {
	return []Subject{Detected, Unavailable, Recovered, LostAcked, Duplicated, Redelivered}
}

// IsTime reports whether the subject is a time, in ns; else it is a number of messages.
func (s Subject) IsTime() bool { return s == Detected || s == Unavailable || s == Recovered }

// Words is the subject as the head of a row or column.
func (s Subject) Words() string {
	switch s {
	case Detected:
		return "noticed after"
	case Recovered:
		return "p99 as before after"
	case LostAcked:
		return "lost although acknowledged"
	}
	return string(s)
}

// harm is what an action must be able to do to messages to have the subject; empty: none has not.
func (s Subject) harm() scenario.Harm {
	switch s {
	case LostAcked:
		return scenario.HarmLost
	case Duplicated, Redelivered:
		return scenario.HarmDuplicated
	}
	return ""
}

// Place is an action of a timeline, or several whose effects overlapped in any of the runs.
type Place struct {
	Actions []int    `json:"actions"` // their numbers in the plan, from 1
	Name    string   `json:"name"`
	Figures []Figure `json:"figures"`
}

// Figure is one subject in each run.
type Figure struct {
	Of   Subject     `json:"of"`
	Runs []CostValue `json:"runs"` // in the order in which the runs were given
}

// Places returns what the actions cost in runs that have the same timeline, see [Same]. An action that
// is by the schedule, or happened in none of them, has no place.
func Places(all []Trial) (places []Place) {
	for _, numbers := range together(all) {
		p := Place{Actions: numbers, Name: name(all[0].Actions, numbers)}
		costs := make([][]result.Cost, len(all))
		for i := range all {
			costs[i] = of(all[i].Costs, numbers)
		}
		for _, s := range Subjects() {
			if h := s.harm(); h != "" && !slices.ContainsFunc(costs, func(x []result.Cost) bool { return can(x, h) }) {
				continue
			}
			f := Figure{Of: s}
			for i := range all {
				f.Runs = append(f.Runs, all[i].value(costs[i], s))
			}
			p.Figures = append(p.Figures, f)
		}
		places = append(places, p)
	}
	return places
}

// together returns the numbers of the actions that have costs, in order of time, those in one list that
// share a cost in any run.
func together(all []Trial) (places [][]int) {
	for _, t := range all {
		for _, c := range t.Costs {
			joined := slices.Clone(c.Actions)
			places = slices.DeleteFunc(places, func(p []int) bool {
				meets := slices.ContainsFunc(p, func(n int) bool { return slices.Contains(c.Actions, n) })
				if meets {
					joined = append(joined, p...)
				}
				return meets
			})
			slices.Sort(joined)
			places = append(places, slices.Compact(joined))
		}
	}
	if len(all) > 0 {
		at := func(p []int) int64 {
			if n := p[0]; n >= 1 && n <= len(all[0].Actions) {
				return all[0].Actions[n-1].At
			}
			return 0
		}
		slices.SortStableFunc(places, func(a, b []int) int {
			if d := at(a) - at(b); d != 0 {
				return int(max(-1, min(1, d)))
			}
			return a[0] - b[0]
		})
	}
	return places
}

// of returns the costs that are of any of some actions.
func of(all []result.Cost, numbers []int) []result.Cost {
	return slices.DeleteFunc(slices.Clone(all), func(c result.Cost) bool {
		return !slices.ContainsFunc(c.Actions, func(n int) bool { return slices.Contains(numbers, n) })
	})
}

// can reports whether any of the actions of costs can do something to messages.
func can(costs []result.Cost, h scenario.Harm) bool {
	return slices.ContainsFunc(costs, func(c result.Cost) bool { return slices.Contains(c.Causes, string(h)) })
}

// name names actions by their kinds, subjects and planned instants.
func name(actions []result.Action, numbers []int) string {
	var words []string
	for _, n := range numbers {
		if n < 1 || n > len(actions) {
			continue
		}
		a := actions[n-1]
		at := "when all was sent"
		if !a.Filled {
			at = "at " + spell.Period(time.Duration(a.At))
		}
		words = append(words, a.Kind+" "+a.Subject+" "+at)
	}
	return strings.Join(words, ", ")
}

// value returns a subject of the costs at a place of one run.
func (t *Trial) value(costs []result.Cost, s Subject) (v CostValue) {
	switch {
	case t.Unfit != "":
		return CostValue{Missing: t.Unfit}
	case len(costs) == 0:
		return CostValue{Missing: "the action did not happen"}
	case s.IsTime():
		v = timeOf(costs, s)
	default:
		v = t.messages(costs, s)
	}
	v.Suspect = t.Suspect
	return v
}

// timeOf returns a time: of several costs the longest outage, and the others from the first action on.
func timeOf(costs []result.Cost, s Subject) (v CostValue) {
	for i := range costs {
		c := &costs[i]
		x, since := timeOfOne(c, s), c.From-costs[0].From
		switch {
		case s == Detected && c.Effect == result.ImpactNone:
			continue
		case !x.Known():
			return x
		case s != Unavailable && c.Effect == result.ImpactSeen:
			x.Least, x.Most = since+x.Least, since+x.Most
		case s != Unavailable && x.Most > 0: // what could not be seen
			x.Most += since
		}
		if s == Detected {
			return x
		}
		v = CostValue{Least: max(v.Least, x.Least), Most: max(v.Most, x.Most), Open: v.Open || x.Open}
	}
	if s == Detected {
		return CostValue{Missing: "no effect was seen"}
	}
	if v.Open {
		v.Most = v.Least
	}
	return v
}

// timeOfOne returns a time of one cost, from its action on.
func timeOfOne(c *result.Cost, s Subject) CostValue {
	w := c.Unavailable
	switch {
	case c.Effect == result.ImpactUnknown:
		return CostValue{Missing: "not known: " + c.Why}
	case s == Detected:
		w = c.Detected
	case s == Recovered && c.Recovered == nil:
		return CostValue{Least: c.NotRecovered, Most: c.NotRecovered, Open: true}
	case s == Recovered:
		w = c.Recovered
	}
	if w == nil {
		return CostValue{Missing: "not known"}
	}
	return CostValue{Least: w.Least, Most: w.Most}
}

// messages returns a number of messages, the sum over costs.
func (t *Trial) messages(costs []result.Cost, s Subject) (v CostValue) {
	for i := range costs {
		c := &costs[i]
		var n int64
		switch l := c.LostAcked; {
		case s == Duplicated:
			n = c.Duplicated
		case s == Redelivered:
			n = c.Redelivered
		case l != nil:
			n = l.Count
		case can(costs[i:i+1], scenario.HarmLost):
			return CostValue{Missing: "what the broker keeps was not read back, or not all of it"}
		}
		v.Least += n
	}
	if v.Most = v.Least; s == LostAcked {
		v.Most += t.Undated
	}
	return v
}
