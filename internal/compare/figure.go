package compare

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

const (
	maximum    = "max"
	throughput = "throughput"
)

// figure is one row of a comparison with its values: a percentile of a metric, or the
// throughput, in the runs of every pair.
type figure struct {
	row    *Row
	metric result.Metric // empty: the throughput
	judged bool
	// values and lower are by side, then pair: the figure, NaN if a run does not have it,
	// and whether it is only a lower bound.
	values [2][]float64
	lower  [2][]bool
	// suspect says for each pair whether the figure of one of its runs is suspect.
	suspect []bool
	// unsupported says that no run has enough messages.
	unsupported bool
}

// whole reports whether every run has a figure above 0 that is no lower bound, so that all
// pairs have a ratio.
func (f *figure) whole() bool {
	for i := range f.values {
		if slices.Contains(f.lower[i], true) || slices.ContainsFunc(f.values[i], func(v float64) bool { return !(v > 0) }) {
			return false
		}
	}
	return len(f.values[0]) > 0
}

// throughputs returns the throughput of unpaced runs; nil if no run was unpaced, or if a run
// had a schedule. The throughput of a run that delivered nothing is zero.
func (c *Comparison) throughputs(pairs []couple) *figure {
	any := false
	for _, p := range pairs {
		for _, r := range p.runs {
			t := r.Summary.Throughput
			any = any || t != nil || r.Header.Mode == result.ModeFlatOut
			if r.Header.Rate > 0 {
				return nil // runs of different modes are not ranked
			}
			c.consumed = c.consumed || t != nil && t.Received > 0 || r.Summary.Counters.Expected > 0
		}
	}
	if !any {
		return nil
	}
	f := newFigure(&Row{Percentile: throughput}, "", len(pairs))
	zero, few := 0, 0
	for n, p := range pairs {
		for i, r := range p.runs {
			f.values[i][n] = c.Rate(r.Run)
			switch v := f.values[i][n]; {
			case math.IsNaN(v):
				few++
			case v == 0:
				zero++
			}
			f.suspect[n] = f.suspect[n] || suspectAt(r, "", "")
		}
	}
	f.describe(nil)
	f.note(zero, "nothing was delivered: a throughput of zero")
	f.note(few, fmt.Sprintf("not supported (needs %s)", spell.Plural(result.LeastThroughput, "message")))
	return &f
}

// Rate is the throughput of an unpaced run: deliveries per second if runs of the comparison
// have consumers, even if none arrived, else messages per second. It is NaN if too few
// messages were sent, and 0 if the run has no throughput.
func (c *Comparison) Rate(r *result.Run) float64 {
	t := r.Summary.Throughput
	switch {
	case t == nil:
		return 0
	case t.Needs > 0:
		return math.NaN()
	case c.consumed:
		return max(0, t.ReceivedPerSecond)
	}
	return max(0, t.PerSecond)
}

func newFigure(row *Row, m result.Metric, pairs int) figure {
	f := figure{row: row, metric: m, suspect: make([]bool, pairs)}
	for i := range f.values {
		f.values[i], f.lower[i] = make([]float64, pairs), make([]bool, pairs)
	}
	return f
}

// note adds to the row a text that holds for n runs, unless n is 0.
func (f *figure) note(n int, text string) {
	if n > 0 {
		f.row.Notes = append(f.row.Notes, fmt.Sprintf("in %d of %d runs %s", n, 2*len(f.suspect), text))
	}
}

// figureOf collects a percentile from all runs; there is false if no run has it.
func figureOf(pairs []couple, m result.Metric, p result.Percentile) (f figure, there bool) {
	f = newFigure(&Row{Percentile: p}, m, len(pairs))
	var within [2][]float64
	var needs int64
	without, censored, floored, few, suspect, invalid := 0, 0, 0, 0, 0, 0
	for n, c := range pairs {
		for i, r := range c.runs {
			x, ok := dist(r, m).At(p)
			v := x.Value
			if !ok {
				needs = max(needs, x.Needs)
				f.values[i][n] = math.NaN()
				without++
				continue
			}
			if r.Summary.Verdict.Limit(m).Of(p) == result.Invalid {
				f.values[i][n] = math.NaN()
				invalid++
				continue
			}
			f.values[i][n] = float64(v)
			if f.lower[i][n] = x.AtLeast; f.lower[i][n] {
				censored++
			}
			if in := x.Interval; in != nil && v > 0 && !in.Open {
				within[i] = append(within[i], float64(in.High-in.Low)/2/float64(v))
			}
			if x.FloorRatio != nil && *x.FloorRatio < 3 {
				floored++
			}
			if x.Episodes > 0 && x.Episodes < 4 {
				few++
			}
			if suspectAt(r, m, p) {
				suspect++
				f.suspect[n] = true
			}
		}
	}
	f.describe(&within)
	if without > 0 {
		text := "not supported"
		if needs > 0 {
			text += " (needs " + spell.Plural(needs, "message") + ")"
		}
		f.note(without, text)
	}
	f.note(invalid, "INVALID from this percentile or a lower one")
	f.note(censored, "only a lower bound: unresolved or refused messages reach it")
	f.note(suspect, "SUSPECT")
	f.note(floored, "less than 3 times the noise floor: as much about the machine as about the broker")
	f.note(few, "from fewer than 4 events")
	f.unsupported = without == 2*len(pairs)
	return f, !f.unsupported
}

// suspectAt reports whether a percentile of a run is suspect, by itself or with the whole
// run. With an empty metric it is about the throughput.
func suspectAt(r run, m result.Metric, p result.Percentile) bool {
	v := &r.Summary.Verdict
	if r.Summary.Interrupted || m != "" && v.Limit(m).Reaches(p) {
		return true
	}
	at, _ := p.Number()
	return slices.ContainsFunc(v.Reasons, func(x result.Reason) bool {
		if x.Status == result.Valid || x.Metric != m && x.Metric != "" {
			return false
		}
		from, ok := x.Percentile.Number()
		return x.Percentile == "" || m != "" && ok && at >= from
	})
}

// describe fills in the figures of both sets.
func (f *figure) describe(within *[2][]float64) {
	if within == nil {
		within = &[2][]float64{}
	}
	has := func(i int) []float64 { return slices.DeleteFunc(slices.Clone(f.values[i]), math.IsNaN) }
	f.row.A, f.row.B = figuresOf(has(0), within[0]), figuresOf(has(1), within[1])
}

// maxima returns the row of the maxima, which are shown and not judged.
func maxima(pairs []couple, m result.Metric) Row {
	f := newFigure(&Row{Percentile: maximum}, m, len(pairs))
	for n, c := range pairs {
		for i, r := range c.runs {
			f.values[i][n] = math.NaN()
			if d := dist(r, m); d != nil {
				f.values[i][n] = float64(d.Max)
			}
		}
	}
	f.describe(nil)
	return *f.row
}
