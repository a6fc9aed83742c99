package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/actioncost"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// Costs compare what the same actions cost in the runs of both sets. They decide nothing in a gate.
type Costs struct {
	// Refused says why costs are not compared; empty: they are.
	Refused string      `json:"refused,omitempty"`
	Places  []CostPlace `json:"places"` // in order of time
	// Together is how many figures share the 5 % of error: those that differ in any pair. Needs is how
	// many pairs an interval of each needs for that.
	Together int `json:"together,omitempty"`
	Needs    int `json:"needs_pairs,omitempty"`
}

// CostPlace is an action of the timeline, or several whose effects overlapped in any of the runs.
type CostPlace struct {
	Actions []int     `json:"actions"` // their numbers in the plan, from 1
	Name    string    `json:"name"`
	Rows    []CostRow `json:"rows"`
}

// CostRow is one figure of what an action cost, in both sets. Times are in ns.
type CostRow struct {
	Of actioncost.Subject    `json:"of"`
	A  actioncost.CostSpread `json:"a"`
	B  actioncost.CostSpread `json:"b"`
	// By is the difference B − A in pairs; nil: no statement.
	By *CostShift `json:"by,omitempty"`
	// Outcome is empty where nothing is judged.
	Outcome Outcome                `json:"outcome,omitempty"`
	Notes   []string               `json:"notes,omitempty"`
	a, b    []actioncost.CostValue // by pair
}

// CostShift is the interval of the median difference B − A, by the signs of the pairs: exact,
// whatever the distribution. An end that is nil is not bounded.
type CostShift struct {
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// compareCosts sets what the actions of both sets cost. all has every pair, also those with runs
// that are in no other figure: such a run has no figure here, and its pair counts as unknown.
func (c *Comparison) compareCosts(all []couple) {
	var trials []actioncost.Trial
	for _, side := range []int{0, 1} {
		for _, p := range all {
			trials = append(trials, actioncost.Of(p.runs[side].Run))
		}
	}
	if !actioncost.Any(trials) {
		return
	}
	n := len(all)
	c.Costs = &Costs{Places: []CostPlace{}}
	if !actioncost.Same(trials) {
		c.Costs.Refused = "the timelines differ: A " + timelines(trials[:n]) + ", B " + timelines(trials[n:])
		return
	}
	for _, p := range actioncost.Places(trials) {
		place := CostPlace{Actions: p.Actions, Name: p.Name}
		for _, f := range p.Figures {
			r := CostRow{Of: f.Of, a: f.Runs[:n], b: f.Runs[n:]}
			r.A, r.B = actioncost.SpreadOf(r.a), actioncost.SpreadOf(r.b)
			r.note()
			if r.differs() {
				c.Costs.Together++
			}
			place.Rows = append(place.Rows, r)
		}
		c.Costs.Places = append(c.Costs.Places, place)
	}
	alpha := (1 - Confidence) / float64(max(c.Costs.Together, 1))
	c.Costs.Needs = int(stats.MinSamples(0.5, 1-alpha))
	for i := range c.Costs.Places {
		for k := range c.Costs.Places[i].Rows {
			c.stateCost(&c.Costs.Places[i].Rows[k], 1-alpha)
		}
	}
}

// stateCost sets the interval of a row and what it shows. A pair in which a figure is missing, or decides
// nothing, counts against any statement.
func (c *Comparison) stateCost(r *CostRow, conf float64) {
	if n := len(r.a); c.Refused != "" && !c.Asked || n < MinPairs || n < c.Costs.Needs {
		if c.Refused == "" && !c.Background {
			r.Outcome = TooFew
		}
		return
	}
	// B − more·A and less·B − A, each from – to, over all pairs.
	between := func(timesA, timesB float64) (low, high float64) {
		var lows, highs []float64
		for i := range r.a {
			a0, a1 := r.a[i].Ends()
			b0, b1 := r.b[i].Ends()
			lows, highs = append(lows, timesB*b0-timesA*a1), append(highs, timesB*b1-timesA*a0)
		}
		low, _, _ = stats.MedianInterval(lows, conf)
		_, high, _ = stats.MedianInterval(highs, conf)
		return low, high
	}
	low, high := between(1, 1)
	if math.IsInf(low, -1) && math.IsInf(high, 1) {
		r.Notes = append(r.Notes, "too many pairs do not have it on both sides")
	} else {
		r.By = &CostShift{bounded(low), bounded(high)}
	}
	if c.Refused != "" || c.Background {
		return
	}
	matters := 1 + c.MinEffect
	overLow, overHigh := between(matters, 1)   // of B beyond A and what matters
	underLow, underHigh := between(1, matters) // of B and what matters beyond A
	switch {
	case overLow > 0:
		r.Outcome = More
	case underHigh < 0:
		r.Outcome = Less
	case overHigh <= 0 && underLow >= 0:
		r.Outcome = Same
	default:
		r.Outcome = Undecided
	}
}

// bounded returns an end of an interval; nil: it has none.
func bounded(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// differs reports whether a pair is known to differ in the figure, or may: only such a figure can show
// anything by chance.
func (r *CostRow) differs() bool {
	for i := range r.a {
		a0, a1 := r.a[i].Ends()
		b0, b1 := r.b[i].Ends()
		if !math.IsInf(a0+b0, 0) && (a0 != b0 || a1 != b1 || a0 != a1) {
			return true
		}
	}
	return false
}

// note says in how many runs the figure is missing, a lower bound, or decides nothing.
func (r *CostRow) note() {
	all := slices.Concat(r.a, r.b)
	add := func(what string, of func(actioncost.CostValue) string) {
		n := map[string]int{}
		var order []string
		for _, v := range all {
			if why := of(v); why != "" {
				if n[why]++; n[why] == 1 {
					order = append(order, why)
				}
			}
		}
		for _, why := range order {
			r.Notes = append(r.Notes, fmt.Sprintf("%s in %d of %d runs: %s", what, n[why], len(all), why))
		}
	}
	add("no figure", func(v actioncost.CostValue) string { return v.Missing })
	add("decides nothing", func(v actioncost.CostValue) string {
		if v.Missing != "" {
			return ""
		}
		return v.Suspect
	})
	add("a lower bound", func(v actioncost.CostValue) string {
		if v.Open && v.Known() {
			return "the latency was not back before the next action or the end of the run"
		}
		return ""
	})
}

// timelines writes the timelines of the runs of a side: the actions of one, or that they differ.
func timelines(side []actioncost.Trial) string {
	if !actioncost.Same(side) {
		return "has several"
	}
	texts := make([]string, 0, len(side[0].Actions))
	for _, a := range side[0].Actions {
		texts = append(texts, cmp.Or(a.Text, strings.TrimSpace(a.Kind+" "+a.Subject)+" at "+spell.Duration(a.At)))
	}
	if len(texts) == 0 {
		return "has no actions"
	}
	return "has " + list(texts)
}
