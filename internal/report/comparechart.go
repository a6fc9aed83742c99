package report

import (
	"fmt"
	"math"
	"strings"

	"sixnines/internal/compare"
	"sixnines/internal/stats"
	"sixnines/result"
)

// mostCompared is the largest number of pairs of runs that the charts of a comparison
// show individually.
const mostCompared = 50

// comparedPair are the two runs of a pair, A's first.
type comparedPair struct {
	number int
	runs   [2]*result.Run
}

// comparedPairs finds the runs of a comparison's pairs among those of each side.
func comparedPairs(c *compare.Comparison, sides [2][]*result.Run) []comparedPair {
	var byName [2]map[string]*result.Run
	for i, runs := range sides {
		byName[i] = map[string]*result.Run{}
		for _, run := range runs {
			for _, part := range run.Parts() {
				if w := part.Header.Workload; w == "" || w == c.Workload {
					byName[i][compare.Name(part)] = part
				}
			}
		}
	}
	var out []comparedPair
	for _, p := range c.Pairs {
		x := comparedPair{p.Number, [2]*result.Run{byName[0][p.A], byName[1][p.B]}}
		if x.runs[0] != nil && x.runs[1] != nil {
			out = append(out, x)
		}
	}
	return out
}

// compareCharts returns the charts of a comparison, the n-th of its page: for each judged
// metric the shift function, the change of each pair, the curves of both sides and each run's percentiles.
func compareCharts(c *compare.Comparison, sides [2][]*result.Run, n int) []*chart {
	pairs := comparedPairs(c, sides)
	var out []*chart
	add := func(x *chart) {
		if x != nil && x.fit() {
			x.Key = fmt.Sprintf("%s-%d", x.Key, n)
			out = append(out, x)
		}
	}
	if c.Throughput != nil {
		add(throughputDots(c, pairs))
	}
	for i, m := range c.Metrics {
		if !m.Judged && !(c.Background && i == 0) {
			continue
		}
		add(shiftChart(c, m, pairs))
		add(pairChart(c, m, pairs))
		for _, x := range slicesCharts(c, m.Metric) {
			add(x)
		}
		add(compareCurves(m.Metric, pairs))
		add(compareDots(m, pairs))
	}
	return out
}

// few returns a remark if not all pairs are drawn.
func few(pairs []comparedPair) string {
	if len(pairs) <= mostCompared {
		return ""
	}
	return fmt.Sprintf(" The first %d pairs are drawn; the tables use all %d.", mostCompared, len(pairs))
}

// percentileAt returns a percentile's coordinate, rounded as in the data of a page.
func percentileAt(p result.Percentile) float64 {
	v, _ := p.Number()
	return math.Round(-1e4*math.Log10(1-v/100)) / 1e4
}

// dotRoom is the width of an axis of percentiles beyond the last percentile with dots.
const dotRoom = 0.12

// shiftChart draws by how much B is larger than A at each percentile, with the simultaneous
// band of all percentiles, and each pair's own change.
func shiftChart(c *compare.Comparison, m compare.Metric, pairs []comparedPair) *chart {
	l := line{Name: "B against A, 95 % band", Dots: true}
	var words []string
	for _, r := range m.Rows {
		if r.Shift == nil || r.Percentile == result.Maximum {
			continue
		}
		l.X, l.Y = append(l.X, percentileAt(r.Percentile)), append(l.Y, r.Shift.Ratio-1)
		l.Lo, l.Hi = append(l.Lo, r.Shift.Lo-1), append(l.Hi, r.Shift.Hi-1)
		words = append(words, fmt.Sprintf("%s %s (%s)", rowName(r.Percentile), compareChange(r), compareInterval(r)))
	}
	if len(l.X) == 0 {
		return nil
	}
	x := &chart{Key: "shift-" + string(m.Metric), Title: "Change by percentile: " + metricName(m.Metric),
		X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: changeScale, Label: "B against A"},
		Caption: "Above zero, B is slower. The line is the change over the pairs, the coloured band contains all percentiles at once with 95 % confidence, and each grey dot is a pair of runs.",
		Alt:     "Change by percentile: " + strings.Join(words, "; ") + "."}
	x.Until = l.X[len(l.X)-1] + dotRoom
	x.Lines = append(x.Lines, l)
	for _, p := range pairs[:min(len(pairs), mostCompared)] {
		dots := line{Colour: 7, Points: true}
		for i := range l.X {
			dots.X, dots.Y = append(dots.X, l.X[i]), append(dots.Y, math.NaN())
		}
		n := 0
		for _, r := range m.Rows {
			if r.Shift == nil || r.Percentile == result.Maximum {
				continue
			}
			a, _ := p.runs[0].Summary.Histograms[m.Metric].At(r.Percentile)
			if b, _ := p.runs[1].Summary.Histograms[m.Metric].At(r.Percentile); a.Value > 0 {
				dots.Y[n] = float64(b.Value)/float64(a.Value) - 1
			}
			n++
		}
		x.Lines = append(x.Lines, dots)
	}
	if c.MinEffect > 0 && c.Refused == "" {
		matters := line{Name: "too small to matter, " + percentage(c.MinEffect), Colour: 7, Dash: 1, Thin: true}
		matters.Legend = matters.Name
		for _, at := range l.X {
			matters.X, matters.Y = append(matters.X, at), append(matters.Y, 0)
			matters.Lo, matters.Hi = append(matters.Lo, 1/(1+c.MinEffect)-1), append(matters.Hi, c.MinEffect)
		}
		x.Lines = append(x.Lines, matters)
		x.Caption += " The grey band is the range of changes that do not matter: a percentile is SLOWER or FASTER if the whole coloured band is outside it."
	}
	x.Caption += few(pairs)
	return x
}

// compareCurves draws the runs of both sides by percentile, each thin, and the median
// of each side's runs.
func compareCurves(m result.Metric, pairs []comparedPair) *chart {
	x := &chart{Key: "curves-" + string(m), Title: "All runs by percentile: " + metricName(m),
		X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: durationScale, Label: "latency"},
		Caption: "Each thin line is a run; a thick line is the median of one side's runs at each percentile. The distance between the lines of one side is uncertainty that an interval within one run cannot show." + few(pairs)}
	var thin []line
	for side := range 2 {
		var own []line
		for n, p := range pairs {
			run := p.runs[side]
			l := percentileCurve(run.Metrics[m], run.Summary.Histograms[m])
			if !l.drawn() {
				continue
			}
			own = append(own, l)
			if n < mostCompared {
				l.Lo, l.Hi, l.Thin, l.Colour = nil, nil, true, side
				thin = append(thin, l)
			}
		}
		l := medianCurve(own)
		l.Name, l.Colour = string(rune('A'+side))+", median of the runs", side
		x.add(l)
	}
	x.Lines = append(x.Lines, thin...)
	return x
}

// medianCurve returns the median of curves at the points that all of them have.
func medianCurve(curves []line) line {
	var out line
	for k := 0; len(curves) > 0; k++ {
		at := curvePoint(k)
		var values []float64
		for _, l := range curves {
			// The last point depends on the run's number of messages, and is not on the grid.
			if k < len(l.X)-1 && l.X[k] == at && !math.IsNaN(l.Y[k]) {
				values = append(values, math.Pow(10, l.Y[k]))
			}
		}
		if len(values) < len(curves) {
			return out
		}
		out.X, out.Y = append(out.X, at), append(out.Y, math.Log10(stats.Median(values)))
	}
	return out
}

// compareDots draws each run's percentiles, A's beside B's.
func compareDots(m compare.Metric, pairs []comparedPair) *chart {
	x := &chart{Key: "dots-" + string(m.Metric), Title: "Percentiles of each run: " + metricName(m.Metric),
		X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: durationScale, Label: "latency"},
		Caption: "Each dot is a run, A to the left and B to the right of its percentile, from the first pair to the last: a drift shows as a slope." + few(pairs)}
	drawn := pairs[:min(len(pairs), mostCompared)]
	for side := range 2 {
		l := line{Name: string(rune('A' + side)), Colour: side, Points: true}
		for _, r := range m.Rows {
			if r.Percentile == result.Maximum {
				continue
			}
			for i, p := range drawn {
				f, ok := p.runs[side].Summary.Histograms[m.Metric].At(r.Percentile)
				if !ok || f.AtLeast {
					continue // no figure, or a lower bound of one
				}
				// 0.01 to 0.09 decades to the left or right.
				away := 0.01 + 0.08*(float64(i)+0.5)/float64(len(drawn))
				if side == 0 {
					away -= 0.1
				}
				at := percentileAt(r.Percentile)
				x.Until = max(x.Until, at+dotRoom)
				l.X, l.Y = append(l.X, at+away), append(l.Y, logOf(f.Value))
				l.Labels = append(l.Labels, fmt.Sprintf("%s, pair %d", rowName(r.Percentile), p.number))
			}
		}
		x.Lines = append(x.Lines, l)
	}
	return x
}

// throughputDots draws what each run came to flat out.
func throughputDots(c *compare.Comparison, pairs []comparedPair) *chart {
	x := &chart{Key: "throughput", Title: "Throughput of each run", X: axis{Scale: countScale, Label: "pair"}, Y: axis{Scale: rateScale, Label: "messages a second"},
		Caption: "Each dot is a run, ordered by pair."}
	for side := range 2 {
		l := line{Name: string(rune('A' + side)), Colour: side, Points: true}
		for _, p := range pairs {
			l.X, l.Y = append(l.X, float64(p.number)), append(l.Y, c.Rate(p.runs[side]))
		}
		x.Lines = append(x.Lines, l)
	}
	return x
}
