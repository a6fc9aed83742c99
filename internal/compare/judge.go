package compare

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// judge fills in the throughput, the metrics' rows and the statements about them. It returns
// an error that wraps [ErrInput] if a metric of o is in no run. controls are the pairs with A on both sides.
func (c *Comparison) judge(pairs, controls []couple, o Options) error {
	if len(pairs) == 0 {
		return nil
	}
	metrics, judged := measured(pairs), o.Metrics
	for _, m := range judged {
		if !slices.Contains(metrics, m) {
			return fmt.Errorf("%s is not measured in any run, only %v are: %w", m, metrics, ErrInput)
		}
	}
	rates := c.throughputs(pairs)
	switch {
	case c.Background:
		judged = nil
	case len(judged) == 0 && rates == nil:
		judged = headline(metrics)
	}
	metrics = slices.DeleteFunc(metrics, func(m result.Metric) bool { return !inAll(pairs, m) && !slices.Contains(judged, m) })
	slices.SortStableFunc(metrics, func(x, y result.Metric) int {
		return boolRank(!slices.Contains(judged, x)) - boolRank(!slices.Contains(judged, y))
	})
	percentiles := o.Percentiles
	if len(percentiles) == 0 {
		percentiles = result.Percentiles()
	}
	var family []figure  // the judged figures, which are tested together
	var shown [][]figure // the others: the figures of one table are tested together
	if rates != nil {
		c.Throughput = rates.row
		if rates.judged = len(o.Metrics) == 0 && !c.Background; rates.judged {
			family = append(family, *rates)
		} else {
			shown = append(shown, []figure{*rates})
		}
	}
	for _, m := range metrics {
		table := Metric{Metric: m, Judged: slices.Contains(judged, m)}
		// figures point to the rows while these are appended, so the slice must not grow.
		table.Rows = make([]Row, 0, len(percentiles)+1)
		var alone []figure
		for _, p := range percentiles {
			f, there := figureOf(pairs, m, p)
			if !there && !(table.Judged && len(o.Percentiles) > 0) {
				continue
			}
			table.Rows = append(table.Rows, *f.row)
			f.row = &table.Rows[len(table.Rows)-1]
			if f.judged = table.Judged; f.judged {
				family = append(family, f)
			} else {
				alone = append(alone, f)
			}
		}
		table.Rows = append(table.Rows, maxima(pairs, m))
		shown = append(shown, alone)
		c.Metrics = append(c.Metrics, table)
	}
	if err := c.control(controls, family); err != nil {
		return err
	}
	for _, together := range append(shown, family) {
		if err := c.state(together); err != nil {
			return err
		}
	}
	c.slice(pairs, controls)
	c.spread(family)
	c.eachRow(func(r *Row) {
		if r.Outcome == Undecided && r.judged != nil {
			r.Cause = r.judged.Cause
		}
	})
	return nil
}

// eachRow calls f with each judged row.
func (c *Comparison) eachRow(f func(r *Row)) {
	if c.Throughput != nil {
		f(c.Throughput)
	}
	for _, m := range c.Metrics {
		for i := range m.Rows {
			if m.Judged {
				f(&m.Rows[i])
			}
		}
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// state sets the changes and outcomes of figures whose intervals hold simultaneously.
func (c *Comparison) state(together []figure) error {
	var family []figure // those with a ratio in every pair
	for _, f := range together {
		if f.whole() {
			family = append(family, f)
		} else if f.judged {
			c.withoutRatio(f, len(together))
		}
	}
	if len(family) == 0 || !c.Stated() {
		return nil
	}
	every := make([]int, len(c.Pairs))
	for i := range every {
		every[i] = i
	}
	s, err := shiftOf(family, every, c.Confidence)
	if err != nil {
		return err
	}
	for k, f := range family {
		p := s.Points[k]
		if f.judged {
			c.P = min(c.P, p.P)
		}
		if !p.Bounded {
			f.row.Notes = append(f.row.Notes, "no interval: at another percentile the pairs have only two differences, each in half of the pairs; more pairs are needed")
			if f.judged && c.Refused == "" {
				f.row.Outcome = Undecided
				f.row.judged = &Judged{Answer: Open, Cause: NoInterval, Text: "the pairs do not allow an interval"}
			}
			continue
		}
		shift := shiftAt(p, c.Confidence)
		base := f.row.A.Mean
		shift.Ns, shift.NsLo, shift.NsHi = base*(p.Ratio-1), base*(p.Lo-1), base*(p.Hi-1)
		f.row.Shift = shift
		if !f.judged || c.Refused != "" {
			continue // without a ranking there is no outcome
		}
		if cause, why := c.unsound(f.metric, f.row.Percentile); cause != "" {
			f.row.Outcome, f.row.judged = Undecided, &Judged{Answer: Open, Cause: cause, Text: why}
			continue
		}
		more := f.metric == "" // of a throughput, more is better
		f.row.Outcome, f.row.judged = c.decide(shift, more)
		f.row.Notes = append(f.row.Notes, remark(f.row, c.MinEffect, more)...)
		if err := c.withoutSuspects(f, k, family); err != nil {
			return err
		}
		c.withoutTaken(f.row, f.metric)
	}
	return nil
}

// shiftOf returns the shift function of figures over the given pairs; conf is the level of its intervals.
func shiftOf(family []figure, pairs []int, conf float64) (stats.Shift, error) {
	a, b := make([][]float64, len(pairs)), make([][]float64, len(pairs))
	for i, n := range pairs {
		for _, f := range family {
			a[i], b[i] = append(a[i], f.values[0][n]), append(b[i], f.values[1][n])
		}
	}
	return stats.ShiftFunction(a, b, conf)
}

// shiftAt converts a point that has an interval. The p-value is exact and the interval is
// approximate; a difference counts as shown only if both show it.
func shiftAt(p stats.ShiftPoint, conf float64) *Shift {
	return &Shift{Ratio: p.Ratio, Lo: p.Lo, Hi: p.Hi, P: p.P, Shown: p.P <= 1-conf && (p.Lo > 1 || p.Hi < 1)}
}

// decide says what an interval shows, for the table and for a gate. "Not worse" needs only
// one end of the interval, "no difference" both.
func (c *Comparison) decide(s *Shift, moreIsBetter bool) (Outcome, *Judged) {
	out := outcomeOf(s, c.MinEffect, moreIsBetter)
	switch {
	case out == Slower:
		return out, &Judged{Answer: Worse}
	case moreIsBetter && s.Lo >= 1/(1+c.MinEffect), !moreIsBetter && s.Hi <= 1+c.MinEffect:
		if out == Undecided {
			out = NotSlower
		}
		return out, &Judged{Answer: NotWorse}
	}
	return out, &Judged{Answer: Open, Cause: WideInterval}
}

// withoutSuspects withdraws an outcome that the pairs without a suspect figure do not show as
// well. Whether a pair has a suspect figure does not depend on which of its runs is A's, so
// the sign-flip test is still valid for the remaining pairs. k is the index of f in family.
func (c *Comparison) withoutSuspects(f figure, k int, family []figure) error {
	var clean []int
	for i, suspect := range f.suspect {
		if !suspect {
			clean = append(clean, i)
		}
	}
	n := len(clean)
	if n == len(f.suspect) {
		return nil
	}
	take := func(why string) {
		f.row.Outcome = Undecided
		f.row.Notes = append(f.row.Notes, "not decided: "+why)
		f.row.judged = &Judged{Answer: Open, Cause: SuspectRuns, Text: why}
	}
	if n < MinPairs {
		take(fmt.Sprintf("%s of %d are free of suspect figures, but %d are needed", spell.Plural(n, "pair"), len(f.suspect), MinPairs))
		return nil
	}
	s, err := shiftOf(family, clean, c.Confidence)
	if err != nil {
		return err
	}
	out, judged := Undecided, &Judged{Answer: Open}
	if s.Points[k].Bounded {
		out, judged = c.decide(shiftAt(s.Points[k], c.Confidence), f.metric == "")
	}
	why := fmt.Sprintf("the %d of %d pairs that are free of suspect figures do not show the same", n, len(f.suspect))
	switch {
	case f.row.judged.Answer != Open && judged.Answer != f.row.judged.Answer:
		take(why)
	case f.row.Outcome != Undecided && out != f.row.Outcome: // not worse in both
		f.row.Outcome = NotSlower
		f.row.Notes = append(f.row.Notes, why)
	}
	return nil
}

// withoutRatio judges a figure that is missing in some run, or is a lower bound or zero there:
// pair by pair, by the exact sign test. Pairs with an unknown sign count against either
// answer. The error probability is divided by family, the number of figures tested together
// (Bonferroni).
func (c *Comparison) withoutRatio(f figure, family int) {
	more := f.metric == ""
	f.row.Outcome = NoFigure
	if more {
		f.row.Outcome = Undecided
	}
	if c.Refused != "" || len(c.Pairs) < MinPairs {
		return
	}
	var s signs
	silent, none, clean := 0, 0, 0
	for i := range c.Pairs {
		v, low := [2]float64{f.values[0][i], f.values[1][i]}, [2]bool{f.lower[0][i], f.lower[1][i]}
		if more { // swapped, so that less is better
			v[0], v[1] = v[1], v[0]
		}
		worse := v[1] > v[0]*(1+c.MinEffect)
		switch {
		case math.IsNaN(v[0] + v[1]):
			none++
			silent++
		case f.suspect[i], more && v[0] == 0 && v[1] == 0:
			silent++
		case worse && low[0], !worse && low[1]:
			silent++
		case worse:
			s.worse++
		default:
			s.better++
		}
		if !f.suspect[i] {
			clean++
		}
	}
	j := &Judged{Better: s.better, Worse: s.worse}
	j.Answer, j.P = s.judge(c.oneSided()/float64(family), silent)
	j.Text = fmt.Sprintf("by signs, since some pairs have no ratio: of %d pairs B is worse by more than %s in %d, not in %d, and in %d it is not known (p = %.2g)",
		len(c.Pairs), percent(c.MinEffect), s.worse, s.better, silent, j.P)
	switch cause, why := c.unsound(f.metric, f.row.Percentile); {
	case cause != "":
		j.Answer, j.Cause, j.Text = Open, cause, why
	case j.Answer == Worse && more:
		f.row.Outcome = Slower
	case j.Answer == NotWorse && more:
		f.row.Outcome = NotSlower
	case j.Answer != Open:
	case f.unsupported:
		j.Cause, j.Text = Unsupported, "requested, but no run has enough messages"
	case clean < len(c.Pairs) && none == 0:
		j.Cause = SuspectRuns
	default:
		j.Cause = Missing
	}
	f.row.judged = j
	if j.Cause != Unsupported {
		f.row.Notes = append(f.row.Notes, j.Text)
	}
}

// outcomeOf compares an interval with the least effect that matters.
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

// remark notes a difference that is shown although the outcome does not name it.
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
	case Undecided, NotSlower:
		return []string{"shown " + word + ", but it is not decided whether by more than " + percent(least)}
	case Same:
		return []string{"shown " + word + ", by too little to matter"}
	}
	return nil
}

// measured lists the response and service times that any run has. Lags are left out because
// they are the generator's, and stages because they are parts of a service time.
func measured(pairs []couple) []result.Metric {
	var out []result.Metric
	for _, m := range result.Metrics() {
		if !m.IsResponse() && m != result.DeliveryService && m != result.RoundTripService && m != result.PublishService {
			continue
		}
		if slices.ContainsFunc(pairs, func(p couple) bool { return dist(p.runs[0], m) != nil || dist(p.runs[1], m) != nil }) {
			out = append(out, m)
		}
	}
	return out
}

// inAll reports whether every run has the metric.
func inAll(pairs []couple, m result.Metric) bool {
	return !slices.ContainsFunc(pairs, func(p couple) bool { return dist(p.runs[0], m) == nil || dist(p.runs[1], m) == nil })
}

// dist returns a metric's distribution in a run; nil if it has no values.
func dist(r run, m result.Metric) *result.Distribution {
	d := r.Summary.Histograms[m]
	if d == nil || d.Total() == 0 {
		return nil
	}
	return d
}

// headline returns the metric that is judged by default: the first response time, else the
// first metric.
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
