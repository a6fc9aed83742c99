package compare

import (
	"fmt"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	maximum    = "max"
	throughput = "throughput"
)

// figure is one column of a comparison: a percentile of a metric, in the runs of
// every pair.
type figure struct {
	row    *Row
	judged bool
	values [2][]float64 // by side, then pair; only if complete
}

// judge makes the tables and their statements.
func (c *Comparison) judge(pairs []couple, o Options) error {
	if len(pairs) == 0 {
		return nil
	}
	judged := o.Metrics
	metrics := common(pairs)
	rates := throughputs(pairs)
	switch {
	case c.Background:
		judged = nil
	case len(judged) == 0 && rates == nil:
		judged = headline(metrics)
	}
	for _, m := range judged {
		if !slices.Contains(metrics, m) {
			return fmt.Errorf("%s is not measured in every run; there are %v: %w", m, metrics, ErrInput)
		}
	}
	slices.SortStableFunc(metrics, func(x, y result.Metric) int {
		return boolRank(!slices.Contains(judged, x)) - boolRank(!slices.Contains(judged, y))
	})
	percentiles := o.Percentiles
	if len(percentiles) == 0 {
		percentiles = result.Percentiles()
	}
	var family []figure // what is judged
	if rates != nil {
		c.Throughput = &Row{Percentile: throughput}
		f := figure{row: c.Throughput, judged: len(o.Metrics) == 0 && !c.Background, values: *rates}
		f.describe(nil)
		if f.judged {
			family = append(family, f)
		} else if err := c.state([]figure{f}); err != nil {
			return err
		}
	}
	for _, m := range metrics {
		table := Metric{Metric: m, Judged: slices.Contains(judged, m)}
		// The rows are pointed to while they are filled: none may move.
		table.Rows = make([]Row, 0, len(percentiles)+1)
		var alone []figure
		for _, p := range percentiles {
			f, there := figureOf(pairs, m, p)
			if !there {
				continue
			}
			table.Rows = append(table.Rows, *f.row)
			f.row = &table.Rows[len(table.Rows)-1]
			f.judged = table.Judged
			switch {
			case f.values[0] == nil:
				if f.judged {
					f.row.Outcome = NoFigure
				}
			case f.judged:
				family = append(family, f)
			default:
				alone = append(alone, f)
			}
		}
		table.Rows = append(table.Rows, maxima(pairs, m))
		if err := c.state(alone); err != nil {
			return err
		}
		c.Metrics = append(c.Metrics, table)
	}
	return c.state(family)
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// state makes the statements about figures that belong together.
func (c *Comparison) state(family []figure) error {
	pairs := len(c.Pairs)
	if len(family) == 0 || !c.Stated() {
		return nil
	}
	a, b := make([][]float64, pairs), make([][]float64, pairs)
	for i := range pairs {
		for _, f := range family {
			a[i], b[i] = append(a[i], f.values[0][i]), append(b[i], f.values[1][i])
		}
	}
	s, err := stats.ShiftFunction(a, b, Confidence)
	if err != nil {
		return err
	}
	for k, f := range family {
		p := s.Points[k]
		if f.judged {
			c.P = min(c.P, p.P)
		}
		if !p.Bounded {
			f.row.Notes = append(f.row.Notes, "no interval: at another percentile the pairs have two differences only, each in half of them; more pairs are needed")
			if f.judged && c.Refused == "" {
				f.row.Outcome = Undecided
			}
			continue
		}
		// The p-value is exact and the interval, in its other ends, nearly so: a
		// difference is shown if both say so.
		shift := &Shift{Ratio: p.Ratio, Lo: p.Lo, Hi: p.Hi, P: p.P, Shown: p.P <= 1-Confidence && (p.Lo > 1 || p.Hi < 1)}
		base := f.row.A.Median
		shift.Ns, shift.NsLo, shift.NsHi = base*(p.Ratio-1), base*(p.Lo-1), base*(p.Hi-1)
		f.row.Shift = shift
		if !f.judged || c.Refused != "" {
			continue // who promises less is not faster for it
		}
		more := f.row.Percentile == throughput // is better
		f.row.Outcome = outcomeOf(shift, c.MinEffect, more)
		f.row.Notes = append(f.row.Notes, remark(f.row, c.MinEffect, more)...)
	}
	return nil
}

// outcomeOf holds an interval against the least effect that matters.
func outcomeOf(s *Shift, least float64, moreIsBetter bool) Outcome {
	up, down := Slower, Faster
	if moreIsBetter {
		up, down = Faster, Slower
	}
	switch high, low := 1+least, 1/(1+least); {
	case s.Shown && s.Lo > high:
		return up
	case s.Shown && s.Hi < low:
		return down
	case s.Lo >= low && s.Hi <= high:
		return Same
	}
	return Undecided
}

// remark says what an outcome leaves unsaid.
func remark(r *Row, least float64, moreIsBetter bool) []string {
	s := r.Shift
	if !s.Shown {
		return nil
	}
	word := "slower"
	if (s.Ratio < 1) != moreIsBetter {
		word = "faster"
	}
	switch r.Outcome {
	case Undecided:
		return []string{"shown " + word + ", but not decided whether by more than " + percent(least)}
	case Same:
		return []string{"shown " + word + ", by too little to matter"}
	}
	return nil
}

// common lists the metrics that every run has, lags and stages aside: those are
// the generator's and the parts of a service time.
func common(pairs []couple) []result.Metric {
	var out []result.Metric
	for _, m := range result.Metrics() {
		if !m.IsResponse() && m != result.DeliveryService && m != result.RoundTripService && m != result.PublishService {
			continue
		}
		if !slices.ContainsFunc(pairs, func(p couple) bool { return dist(p.runs[0], m) == nil || dist(p.runs[1], m) == nil }) {
			out = append(out, m)
		}
	}
	return out
}

// dist is a metric's distribution in a run; nil if it holds nothing.
func dist(r run, m result.Metric) *result.Distribution {
	d := r.Summary.Histograms[m]
	if d == nil || d.Total() == 0 {
		return nil
	}
	return d
}

// headline is what is judged unless something else is asked for: the first
// response time, or the first service time where there is none.
func headline(metrics []result.Metric) []result.Metric {
	for _, m := range metrics {
		if m.IsResponse() {
			return []result.Metric{m}
		}
	}
	if len(metrics) > 0 {
		return metrics[:1]
	}
	return nil
}

// throughputs returns what the runs came to flat out, nil unless all have it.
func throughputs(pairs []couple) *[2][]float64 {
	var out [2][]float64
	for _, p := range pairs {
		for i := range p.runs {
			t := p.runs[i].Summary.Throughput
			if t == nil {
				return nil
			}
			v := t.PerSecond
			if t.Received > 0 {
				v = t.ReceivedPerSecond
			}
			if !(v > 0) {
				return nil
			}
			out[i] = append(out[i], v)
		}
	}
	return &out
}

// figureOf collects a percentile; there is false if no run has it.
func figureOf(pairs []couple, m result.Metric, p string) (f figure, there bool) {
	f.row = &Row{Percentile: p}
	var within [2][]float64
	var needs int64
	without, censored, floored, few, suspect, invalid := 0, 0, 0, 0, 0, 0
	for _, c := range pairs {
		for i, r := range c.runs {
			d := dist(r, m)
			v, ok := d.Percentiles[p]
			switch {
			case !ok:
				needs = max(needs, d.Unsupported[p])
				without++
				continue
			case r.Summary.Verdict.Limit(m).Of(p) == result.Invalid:
				invalid++
				continue
			case d.AtLeast[p]:
				censored++
			}
			f.values[i] = append(f.values[i], float64(v))
			if in, ok := d.Intervals[p]; ok && v > 0 && !d.Open[p] {
				within[i] = append(within[i], float64(in[1]-in[0])/2/float64(v))
			}
			if ratio, ok := d.FloorRatio[p]; ok && ratio < 3 {
				floored++
			}
			if n, ok := d.Episodes[p]; ok && n < 4 {
				few++
			}
			if r.Summary.Verdict.Limit(m).Reaches(p) || slices.ContainsFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool {
				return x.Metric == m && x.Percentile == p && x.Status != result.Valid
			}) {
				suspect++
			}
		}
	}
	runs := 2 * len(pairs)
	if without == runs {
		return f, false
	}
	f.describe(&within)
	note := func(n int, text string) {
		if n > 0 {
			f.row.Notes = append(f.row.Notes, fmt.Sprintf("in %d of %d runs %s", n, runs, text))
		}
	}
	if without > 0 {
		text := "not supported"
		if needs > 0 {
			text += " (needs " + spell.Plural(needs, "message") + ")"
		}
		note(without, text)
	}
	note(invalid, "INVALID from this percentile on, or a lower one")
	note(censored, "a lower bound only: unresolved or refused messages reach it")
	note(suspect, "SUSPECT")
	note(floored, "less than 3 times the noise floor: as much about the machine as about the broker")
	note(few, "from fewer than 4 events")
	if without > 0 || censored > 0 || invalid > 0 || !positive(f.values) {
		// Not the pairs that have it: the runs without are the slow ones.
		f.values = [2][]float64{}
	}
	return f, true
}

func positive(values [2][]float64) bool {
	return !slices.ContainsFunc(slices.Concat(values[0], values[1]), func(v float64) bool { return !(v > 0) })
}

// describe fills in the figures of both sets.
func (f *figure) describe(within *[2][]float64) {
	if within == nil {
		within = &[2][]float64{}
	}
	f.row.A, f.row.B = figuresOf(f.values[0], within[0]), figuresOf(f.values[1], within[1])
}

// maxima are shown and not judged.
func maxima(pairs []couple, m result.Metric) Row {
	f := figure{row: &Row{Percentile: maximum}}
	for _, c := range pairs {
		for i, r := range c.runs {
			f.values[i] = append(f.values[i], float64(dist(r, m).Max))
		}
	}
	f.describe(nil)
	return *f.row
}
