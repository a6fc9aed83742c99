package report

import (
	"sixnines/internal/compare"
	"sixnines/result"
)

// controlInterval is what pairs with A on both sides differ by: "+0.2 % (-1.0 % to +1.4 %)".
func controlInterval(r compare.ControlRow) string {
	switch {
	case r.Ratio == 0:
		return "not known"
	case !r.Bounded:
		return change(r.Ratio) + " (no interval)"
	}
	return change(r.Ratio) + " (" + change(r.Lo) + " to " + change(r.Hi) + ")"
}

// controlWords are what pairs with A on both sides differ by, a row each.
func controlWords(c *compare.Comparison) []string {
	if c.Control == nil {
		return nil
	}
	words := []string{plural(int64(c.Control.Pairs), "pair")}
	for _, r := range c.Control.Rows {
		words = append(words, controlName(c, r)+" "+controlInterval(r))
	}
	return words
}

func controlName(c *compare.Comparison, r compare.ControlRow) string {
	name := compareRowName(compare.Row{Percentile: r.Percentile})
	judged := 0
	for _, m := range c.Metrics {
		if m.Judged {
			judged++
		}
	}
	if judged > 1 && r.Metric != "" {
		return string(r.Metric) + " " + name
	}
	return name
}

// controlTable lists the control pairs, nil without any.
func controlTable(c *compare.Comparison) *table {
	if c.Control == nil || len(c.Control.Rows) == 0 {
		return nil
	}
	x := &table{Head: columnHeads("lr", "", "change", "95 % interval"), Even: true, Fixed: true,
		About: plural(int64(c.Control.Pairs), "pair") + " with A on both sides, made among the others: the error of the comparison itself; the intervals hold for all rows at once"}
	for _, r := range c.Control.Rows {
		by, interval := change(r.Ratio), "no interval: six pairs are needed"
		switch {
		case r.Ratio == 0:
			by, interval = "", "not known: a run does not have it"
		case r.Bounded:
			interval = change(r.Lo) + " to " + change(r.Hi)
		}
		row := x.add(controlName(c, r), by, interval)
		if r.Differs() {
			row.styled(2, bad)
		}
	}
	return x
}

// mostByPair is how many percentiles the chart of changes by pair has.
const mostByPair = 3

// pairChart draws the change of each pair, in the order in which they were made.
func pairChart(c *compare.Comparison, m compare.Metric, pairs []comparedPair) *chart {
	if !c.Stated() {
		return nil
	}
	x := &chart{Key: "pairs-" + string(m.Metric), Title: "Change by pair: " + metricName(m.Metric),
		X: axis{Scale: countScale, Label: "pair"}, Y: axis{Scale: changeScale, Label: "B against A"},
		Caption: "Each dot is a pair of runs, in the order in which they were made: above zero B is slower in it. A slope is a change that one side felt more than the other."}
	for _, r := range m.Rows {
		if r.Percentile == result.Maximum || len(x.Lines) == mostByPair || r.A.Runs < len(pairs) || r.B.Runs < len(pairs) {
			continue
		}
		if r.Percentile != "50" && r.Percentile != "90" && r.Percentile != "99" {
			continue
		}
		l := line{Name: rowName(r.Percentile), Dots: true, Colour: len(x.Lines)}
		for _, p := range pairs {
			a, _ := p.runs[0].Summary.Histograms[m.Metric].At(r.Percentile)
			if b, _ := p.runs[1].Summary.Histograms[m.Metric].At(r.Percentile); a.Value > 0 {
				l.X, l.Y = append(l.X, float64(p.number)), append(l.Y, float64(b.Value)/float64(a.Value)-1)
			}
		}
		x.Lines = append(x.Lines, l)
	}
	if len(x.Lines) == 0 {
		return nil
	}
	return x
}
