package report

import (
	"slices"
	"strings"

	"sixnines/internal/actioncost"
	"sixnines/internal/compare"
	"sixnines/internal/judge"
	"sixnines/internal/sweep"
	"sixnines/result"
)

// costValue writes a figure of what an action cost: what is known of it, from – to.
func costValue(of actioncost.Subject, v actioncost.CostValue) string {
	mark := ""
	if v.Open {
		mark = "≥ "
	}
	switch {
	case !v.Known():
		return "n/a"
	case of.IsTime():
		return mark + judge.Range(result.Within{Least: v.Least, Most: v.Most})
	case v.Least == v.Most:
		return mark + count(v.Least)
	}
	return count(v.Least) + " to " + count(v.Most)
}

// costRange writes between which numbers the figures of all runs are; empty: fewer than two have the figure.
func costRange(of actioncost.Subject, s actioncost.CostSpread) string {
	if s.Runs < 2 {
		return ""
	}
	mark := ""
	if s.Most.Open {
		mark = "≥ "
	}
	one := func(v int64) string { return costValue(of, actioncost.CostValue{Least: v, Most: v}) }
	least, most := one(s.Least.Least), mark+one(s.Most.Most)
	if least == most {
		return least
	}
	return least + " – " + most
}

// costDifference writes the interval of a difference.
func costDifference(of actioncost.Subject, by *compare.CostShift) string {
	if by == nil {
		return ""
	}
	number := func(v float64) string {
		switch {
		case of.IsTime():
			return signed(v)
		case v > 0:
			return "+" + count(int64(v))
		}
		return count(int64(v))
	}
	switch {
	case by.Low == nil:
		return "at most " + number(*by.High)
	case by.High == nil:
		return "at least " + number(*by.Low)
	}
	return number(*by.Low) + " to " + number(*by.High)
}

// costOutcome is the outcome of a figure as a cell.
func costOutcome(o compare.Outcome, least float64) cell {
	switch o {
	case compare.More:
		return cell{Text: "MORE", Style: bad, Bold: true}
	case compare.Less:
		return cell{Text: "LESS", Style: good, Bold: true}
	}
	return cell{Text: outcomeWord(o, least), Style: outcomeStyle(o)}
}

// comparedCosts are the tables of what actions cost in both sets, one for each place in the timeline; nil: the
// runs have no actions.
func comparedCosts(c *compare.Comparison, in medium) document {
	if c.Costs == nil {
		return nil
	}
	if c.Costs.Refused != "" {
		return document{text{Class: "reasons", Text: costsRefused(c), setting: setting{"  ", warning}}}
	}
	var out document
	stated, judged := false, false
	for _, p := range c.Costs.Places {
		for i := range p.Rows {
			stated, judged = stated || p.Rows[i].By != nil, judged || p.Rows[i].Outcome != ""
		}
	}
	for _, p := range c.Costs.Places {
		x := &table{Name: "Cost of " + plain(p.Name), Titled: true, Class: "figures cells", Head: columnHeads("lrrrr", "", "A, median", "runs", "B, median", "runs"), Even: true, Spill: true}
		if stated {
			x.Head = append(x.Head, columnHeads("l", "B − A, 95 % interval")...)
		}
		if judged {
			x.Head = append(x.Head, columnHeads("l", "outcome")...)
		}
		for i := range p.Rows {
			r := &p.Rows[i]
			y := x.add(r.Of.Words(), costValue(r.Of, r.A.Median), costRange(r.Of, r.A), costValue(r.Of, r.B.Median), costRange(r.Of, r.B))
			if stated {
				y.Cells = append(y.Cells, cell{Text: costDifference(r.Of, r.By), Style: faint, Class: "interval"})
			}
			if judged {
				y.Cells = append(y.Cells, costOutcome(r.Outcome, c.MinEffect))
			}
			for _, n := range r.Notes {
				y.noted(plain(n))
			}
		}
		if in == inTerminal {
			x = x.without(4).without(2)
		}
		out = append(out, x)
	}
	return append(out, keys(costLegend(c)...)...)
}

// costsRefused says why costs are not compared.
func costsRefused(c *compare.Comparison) string {
	return "What actions cost is not compared: " + plain(c.Costs.Refused) + "."
}

// costLegend explains the tables of costs.
func costLegend(c *compare.Comparison) []string {
	if len(c.Costs.Places) == 0 {
		return nil
	}
	text := "What actions cost, run by run: two figures are what is known, from – to; ≥ is a latency that was not back."
	if c.Costs.Together > 0 && c.Stated() {
		text += " B − A: the interval of the median difference of the pairs, by their signs; it holds for all " + plural(int64(c.Costs.Together), "figure") + " in which pairs differ at once"
		if n := c.Costs.Needs; n > c.A.Runs {
			text += ", which takes " + plural(int64(n), "pair")
		}
		text += "."
	}
	return []string{text, "MORE and LESS: shown to differ by more than " + percentage(c.MinEffect) + ". No gate depends on them: --slo 'unavailable < 5s' makes one."}
}

// costWords are what actions cost in both sets: a line for each action, and one for each of its figures that is not
// 0 in all runs.
func costWords(c *compare.Comparison) []string {
	if c.Costs == nil {
		return nil
	}
	if c.Costs.Refused != "" {
		return []string{costsRefused(c)}
	}
	var out []string
	for _, p := range c.Costs.Places {
		at := len(out)
		out = append(out, "of "+plain(p.Name))
		for i := range p.Rows {
			r := &p.Rows[i]
			none := func(s actioncost.CostSpread) bool { return s.Runs > 0 && s.Most == actioncost.CostValue{} }
			if r.Of == actioncost.Detected || none(r.A) && none(r.B) {
				continue
			}
			text := "  " + r.Of.Words() + ": A " + costValue(r.Of, r.A.Median) + ", B " + costValue(r.Of, r.B.Median)
			if o := costOutcome(r.Outcome, c.MinEffect).Text; o != "" {
				text += ": " + o
			}
			out = append(out, text)
		}
		if len(out) == at+1 {
			out[at] += ": nothing seen in either"
		}
	}
	return out
}

// costTables are what the same actions cost in the runs of a set, a table for each place in the timeline with a row
// for each run; nil: they have no actions.
func (r *repeats) costTables() (out []*table) {
	var trials []actioncost.Trial
	for _, s := range r.runs {
		trials = append(trials, actioncost.Of(s.run))
	}
	if !actioncost.Any(trials) || !actioncost.Same(trials) {
		return nil
	}
	for _, p := range actioncost.Places(trials) {
		x := &table{Name: "Between " + count(int64(len(r.runs))) + " runs: " + r.what("cost of "+plain(p.Name)), Head: columnHeads("lr", append([]string{""}, figureHeads(p)...)...), Even: true, Spill: true, Explain: true,
			Caption: "What is known of each run, from – to. ≥: the former latency was not back before the next action or the end of the run. Least, median and most are over the runs that have the figure."}
		for i, s := range r.runs {
			y := x.add(s.letter)
			for _, f := range p.Figures {
				y.Cells = append(y.Cells, cell{Text: costValue(f.Of, f.Runs[i])})
				if v := f.Runs[i]; f.Of == actioncost.Unavailable {
					y.noted(plain(v.Missing), plain(v.Suspect))
				}
			}
		}
		for _, of := range []struct {
			name string
			pick func(actioncost.CostSpread) actioncost.CostValue
		}{
			{"least", func(s actioncost.CostSpread) actioncost.CostValue { return s.Least }},
			{"median", func(s actioncost.CostSpread) actioncost.CostValue { return s.Median }},
			{"most", func(s actioncost.CostSpread) actioncost.CostValue { return s.Most }},
		} {
			y := x.add(of.name)
			for _, f := range p.Figures {
				y.Cells = append(y.Cells, cell{Text: costValue(f.Of, of.pick(actioncost.SpreadOf(f.Runs)))})
			}
		}
		out = append(out, x)
	}
	return out
}

// figureHeads are the heads of a place's figures.
func figureHeads(p actioncost.Place) (out []string) {
	for _, f := range p.Figures {
		out = append(out, f.Of.Words())
	}
	return out
}

// costs is what actions cost in the cells of a sweep: a row for each cell and place in its timeline; nil: no
// cell has actions.
func (s *Sweep) costs() *table {
	x := &table{Name: joinNonEmpty(", ", "What actions cost", s.of()), Wrap: wrapWidth, Explain: true,
		Caption: "The median round, and in brackets the least and the most of all rounds that have the figure. Two figures of a round are what is known, from – to. ≥: the former latency was not back."}
	for _, a := range s.Axes {
		x.Head = append(x.Head, columnHeads("r", plain(a.Name))...)
	}
	x.Head = append(x.Head, columnHeads("l", "action")...)
	subjects := slices.DeleteFunc(actioncost.Subjects(), func(of actioncost.Subject) bool {
		return !slices.ContainsFunc(s.Rows, func(r sweep.Row) bool {
			return slices.ContainsFunc(r.Costs, func(p actioncost.CostSummary) bool { return p.Figures[of].Runs > 0 })
		})
	})
	for _, of := range subjects {
		x.Head = append(x.Head, columnHeads("r", of.Words())...)
	}
	for i := range s.Rows {
		for _, p := range s.Rows[i].Costs {
			var r row
			for _, c := range s.Rows[i].Cell {
				r.Cells = append(r.Cells, cell{Text: plain(c.Text())})
			}
			r.Cells = append(r.Cells, cell{Text: plain(p.Name)})
			for _, of := range subjects {
				f, text := p.Figures[of], "n/a"
				if f.Runs > 0 {
					text = costValue(of, f.Median)
				}
				if between := costRange(of, f); between != "" && between != text {
					text += " (" + between + ")"
				}
				r.Cells = append(r.Cells, cell{Text: text})
			}
			var notes []string
			for _, of := range subjects {
				if f := p.Figures[of]; f.Runs < s.Rounds {
					notes = append(notes, of.Words()+": "+count(int64(f.Runs))+" of "+plural(int64(s.Rounds), "round"))
				}
			}
			r.noted(strings.Join(notes, "; "))
			x.Rows = append(x.Rows, r)
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return x
}
