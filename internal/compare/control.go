package compare

import (
	"cmp"
	"fmt"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Control is what pairs with A on both sides differ by, made among the others and as these.
type Control struct {
	Pairs int          `json:"pairs"`
	Rows  []ControlRow `json:"rows"` // one of each judged figure
	// Biased says that an interval excludes a ratio of 1: the comparison has an error of its own, and decides nothing.
	Biased bool `json:"biased"`
}

// ControlRow is the error of one judged figure.
type ControlRow struct {
	Metric     result.Metric     `json:"metric,omitempty"` // empty: the throughput
	Percentile result.Percentile `json:"percentile"`
	Ratio      float64           `json:"ratio,omitempty"` // geometric mean over the pairs; 0: a pair does not have it
	// Lo and Hi hold for all rows at once with [Confidence], if Bounded; that needs [MinPairs] pairs.
	Lo      float64 `json:"lo,omitempty"`
	Hi      float64 `json:"hi,omitempty"`
	Bounded bool    `json:"bounded,omitempty"`
	// Prevents is why the figure is not decided: [NoControl] if this row has no interval, whatever other rows have;
	// [BiasedControl] if some row's interval excludes 1; empty: it may be decided.
	Prevents Cause `json:"prevents,omitempty"`
	// Taken is A's median beside B divided by that beside A, if they are shown to differ, and by more than the least change that
	// matters or a tenth; 0: not. Then one side takes from the other what it does not take from itself, and at no percentile of the
	// metric an outcome holds that this can have made.
	Taken float64 `json:"taken,omitempty"`
}

// withoutControls separates the runs of pairs that have A on both sides.
func withoutControls(runs []*result.Run) (rest, controls []*result.Run) {
	for _, r := range runs {
		if t := r.Header.Trial; t != nil && t.Control {
			controls = append(controls, r)
		} else {
			rest = append(rest, r)
		}
	}
	return rest, controls
}

// controlPairs pairs the runs of control pairs, given by side, and returns those that can be used, and those with a run that was
// made again.
func controlPairs(a, b []*result.Run, beside map[*result.Run][]*result.Run) (pairs []couple, again []Replaced, err error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, nil
	}
	sets, err := sides(a, b, beside)
	if err != nil {
		return nil, nil, err
	}
	all, _, ab := couples(sets)
	if !ab {
		return nil, nil, nil
	}
	again = remade(all)
	all, _ = replaced(all)
	pairs, _ = fitOnes(all)
	return pairs, again, nil
}

// control describes the control pairs by the figures that are judged, unless none exist and none are needed.
func (c *Comparison) control(pairs []couple, judged []figure) error {
	if len(pairs) == 0 && (c.Design == nil || c.Design.Controls == 0) {
		return nil
	}
	c.Control = &Control{Pairs: len(pairs), Rows: []ControlRow{}}
	var family []figure
	var at []int // the row of each figure of the family
	for i, f := range judged {
		c.Control.Rows = append(c.Control.Rows, ControlRow{Metric: f.metric, Percentile: f.row.Percentile, Prevents: NoControl})
		var own *figure
		if f.metric == "" {
			own = c.throughputs(pairs)
		} else if x, there := figureOf(pairs, f.metric, f.row.Percentile); there {
			own = &x
		}
		if own != nil && own.whole() {
			family, at = append(family, *own), append(at, i)
			if f.metric != "" && f.whole() {
				c.Control.Rows[i].takes(f.values[0], own.ofControl(), len(judged), c.MinEffect)
			}
		}
	}
	if len(family) == 0 || len(pairs) < 2 {
		return nil
	}
	every := make([]int, len(pairs))
	for i := range every {
		every[i] = i
	}
	s, err := shiftOf(family, every, Confidence)
	if err != nil {
		return err
	}
	for k := range family {
		p, row := s.Points[k], &c.Control.Rows[at[k]]
		row.Ratio = p.Ratio
		if !p.Bounded {
			continue
		}
		row.Lo, row.Hi, row.Bounded, row.Prevents = p.Lo, p.Hi, true, ""
		c.Control.Biased = c.Control.Biased || shiftAt(p, Confidence).Shown
	}
	// A wide interval of another row may hide the same error. Of 20 simulated comparisons with a side that is 10 % slower by
	// itself, 4 had a verdict where each row had only its own interval to pass.
	for i := range c.Control.Rows {
		if r := &c.Control.Rows[i]; c.Control.Biased && r.Bounded {
			r.Prevents = BiasedControl
		}
	}
	return nil
}

// unsound says why a figure is not decided, whatever the pairs show; the cause is empty if it may be. m is empty for the
// throughput.
func (c *Comparison) unsound(m result.Metric, percentile result.Percentile) (cause Cause, why string) {
	if why := c.Beside.Disturbed(); why != "" {
		return Disturbed, why
	}
	if why := c.unfinished(); why != "" {
		return Unfinished, why
	}
	if c.Control == nil {
		return "", ""
	}
	i := slices.IndexFunc(c.Control.Rows, func(r ControlRow) bool { return r.Metric == m && r.Percentile == percentile })
	if i < 0 {
		return "", ""
	}
	return c.Control.Rows[i].Prevents, c.Control.why(c.Control.Rows[i])
}

// why says why a row prevents a decision; empty: it does not.
func (c *Control) why(r ControlRow) string {
	switch {
	case r.Prevents == BiasedControl:
		var where []string
		for _, r := range c.Rows {
			if r.Differs() {
				where = append(where, fmt.Sprintf("%s (%s to %s) at %s", change(r.Ratio), change(r.Lo), change(r.Hi), rowWord(r.Percentile)))
			}
		}
		return "A beside A differs by " + list(where) + ", so the comparison has an error of its own"
	case r.Prevents == "":
		return ""
	case c.Pairs < MinPairs:
		return fmt.Sprintf("%s with A on both sides can be used, and %d are needed", spell.Plural(c.Pairs, "pair"), MinPairs)
	case r.Ratio == 0:
		return "a run with A on both sides does not have the figure"
	}
	return "the pairs with A on both sides give no interval"
}

// Differs reports whether the interval excludes a ratio of 1.
func (r ControlRow) Differs() bool { return r.Bounded && (r.Lo > 1 || r.Hi < 1) }

func rowWord(percentile result.Percentile) string {
	if percentile == throughput {
		return string(percentile)
	}
	return "p" + string(percentile)
}

// Unsound says why the pairs decide nothing, whatever their figures are; empty: some figure may be decided.
func (c *Comparison) Unsound() string {
	if why := cmp.Or(c.Beside.Disturbed(), c.unfinished()); why != "" {
		return why
	}
	if c.Control == nil || len(c.Control.Rows) == 0 || slices.ContainsFunc(c.Control.Rows, func(r ControlRow) bool { return r.Prevents == "" }) {
		return ""
	}
	return c.Control.why(c.Control.Rows[0])
}
