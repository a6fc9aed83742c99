package report

import (
	"fmt"
	"math"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/result"
)

// windowWidth is the part of a pair's width that its window has in charts of slices. The rest is a gap.
const windowWidth = 0.85

// mostSliced is how many percentiles are drawn over time: the lowest ones, which slices have enough messages for.
const mostSliced = 2

// slicesCharts draw a metric over the time of pairs whose runs were made at the same time, slice by slice: B against A for each
// percentile, and both sides.
func slicesCharts(c *compare.Comparison, m result.Metric) (out []*chart) {
	sides := &chart{Key: "sides-" + string(m), Title: "Both sides over time: " + metricName(m),
		X: axis{Scale: countScale, Label: "pair"}, Y: axis{Scale: durationScale, Label: "latency"}}
	against := func(a, b int64) float64 { return float64(b)/float64(a) - 1 }
	of := [2]func(a, b int64) float64{func(a, _ int64) float64 { return logOf(a) }, func(_, b int64) float64 { return logOf(b) }}
	for _, s := range c.Slices {
		if s.Metric != m || len(out) == mostSliced {
			continue
		}
		name := rowName(s.Percentile)
		about := fmt.Sprintf("The windows of the pairs in slices of %s: the window of a pair begins at its number, and what follows until the next is not to scale.", spell.Duration(s.Length))
		x := &chart{Key: "slices-" + string(s.Percentile) + "-" + string(m), Title: "Change over time, " + name + ": " + metricName(m),
			X: axis{Scale: countScale, Label: "pair"}, Y: axis{Scale: changeScale, Label: "B against A"},
			Caption: about + " Above zero B is slower. What moves both sides at once is not in the line. Nothing is decided by slices, since those of one window are not independent."}
		x.add(slicesLine(s, "B against A", false, against))
		control := slicesLine(s, "A beside A", true, against)
		control.Colour, control.Dash = 7, 1
		sides.Caption = about + " What moves both sides at once is more likely the machine than a side."
		if x.add(control) {
			x.Caption += " Grey: pairs with A on both sides, whose distance from zero is an error of the comparison."
			sides.Caption += " Grey: both sides of pairs with A on both."
		}
		for side := range 2 {
			l := slicesLine(s, string(rune('A'+side))+" "+name, false, of[side])
			l.Colour, l.Dash = side, len(out)
			sides.add(l)
		}
		for side, word := range []string{"A ", "A again "} {
			l := slicesLine(s, word+name+", A beside A", true, of[side])
			l.Colour, l.Dash, l.Thin = 7, len(out), true
			sides.add(l)
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, sides)
}

// slicesLine is a line through the slices of the pairs of A and B, or of those of the control, with a gap between pairs. It has a
// point for each slice of all pairs, so that a page's script draws no line across gaps.
func slicesLine(s compare.Slices, name string, control bool, value func(a, b int64) float64) line {
	l := line{Name: name}
	most := 1
	for _, p := range s.Pairs {
		most = max(most, len(p.A), len(p.B))
	}
	add := func(at, y float64, label string) {
		l.X, l.Y, l.Labels = append(l.X, at), append(l.Y, y), append(l.Labels, label)
	}
	for _, p := range s.Pairs {
		for k := range min(len(p.A), len(p.B)) {
			y := math.NaN()
			if p.Control == control && p.A[k] > 0 && p.B[k] > 0 {
				y = value(p.A[k], p.B[k])
			}
			add(float64(p.Pair)+windowWidth*(float64(k)+0.5)/float64(most), y, fmt.Sprintf("pair %d, from %s", p.Pair, spell.Duration(time.Duration(k)*s.Length)))
		}
		add(float64(p.Pair)+(windowWidth+1)/2, math.NaN(), "")
	}
	return l
}

// spreadTable lists what the intervals of the judged figures are made of; nil where neither slices nor a number of pairs is known.
func spreadTable(c *compare.Comparison) *table {
	x := &table{Head: columnHeads("lr", "", "from slice to slice", "from pair to pair", "would decide"), Even: true, Fixed: true,
		About: "standard deviation of the ratio of B to A; the intervals are of the spread from pair to pair, by " + plural(int64(len(c.Pairs)), "pair")}
	sliced, open := false, false
	eachSpread(c, func(name string, r compare.Row) {
		slices, decides := "", ""
		if r.Spread.Slices > 0 {
			slices, sliced = spreadText(r.Spread.Slices), true
		}
		if r.Spread.Decides > 0 {
			decides, open = "about "+plural(int64(r.Spread.Decides), "pair"), true
		}
		x.add(name, slices, spreadText(r.Spread.Pairs), decides)
	})
	switch {
	case !sliced && !open:
		return nil
	case !open:
		return x.without(3)
	case !sliced:
		return x.without(1)
	}
	return x
}

// mostDeciding is how many figures a screen says the number of pairs for.
const mostDeciding = 3

// decidingWords say, of the first figures whose intervals are too wide, how many pairs would decide them, and how far the pairs
// are apart.
func decidingWords(c *compare.Comparison) (words []string) {
	eachSpread(c, func(name string, r compare.Row) {
		if r.Spread.Decides > 0 && len(words) < mostDeciding {
			words = append(words, fmt.Sprintf("%s about %s of ±%s", name, plural(int64(r.Spread.Decides), "pair"), spreadText(r.Spread.Pairs)))
		}
	})
	return words
}

// eachSpread calls f with the name of each row that has a spread.
func eachSpread(c *compare.Comparison, f func(name string, r compare.Row)) {
	if c.Throughput != nil && c.Throughput.Spread != nil {
		f(compareRowName(*c.Throughput), *c.Throughput)
	}
	for _, m := range c.Metrics {
		for _, r := range m.Rows {
			if r.Spread != nil {
				f(controlName(c, compare.ControlRow{Metric: m.Metric, Percentile: r.Percentile}), r)
			}
		}
	}
}

// spreadText writes a standard deviation of log ratios.
func spreadText(v float64) string { return percentage(math.Round(math.Expm1(v)*1000) / 1000) }
