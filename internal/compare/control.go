package compare

import (
	"fmt"
	"slices"

	"sixnines/result"
)

// Control is what pairs with A on both sides differ by, made among the others and as these.
type Control struct {
	Pairs int          `json:"pairs"`
	Rows  []ControlRow `json:"rows"`
	// Biased says that an interval excludes a ratio of 1: the comparison has an error of its own, and decides nothing.
	Biased bool `json:"biased"`
}

// ControlRow is the error of one judged figure.
type ControlRow struct {
	Metric     result.Metric `json:"metric,omitempty"` // empty: the throughput
	Percentile string        `json:"percentile"`
	Ratio      float64       `json:"ratio"` // geometric mean over the pairs
	// Lo and Hi hold for all rows at once with [Confidence], if Bounded; that needs [MinPairs] pairs.
	Lo      float64 `json:"lo,omitempty"`
	Hi      float64 `json:"hi,omitempty"`
	Bounded bool    `json:"bounded,omitempty"`
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

// controlPairs pairs the runs of control pairs, given by side.
func controlPairs(a, b []*result.Run, beside map[*result.Run][]*result.Run) ([]couple, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	sets, err := sides(a, b, beside)
	if err != nil {
		return nil, err
	}
	all, _, ab := couples(sets)
	if !ab {
		return nil, nil
	}
	all, _ = replaced(all)
	pairs, _ := fitOnes(all)
	return pairs, nil
}

// control describes the control pairs by the figures that are judged, unless there are none.
func (c *Comparison) control(pairs []couple, judged []figure) error {
	if len(pairs) == 0 {
		return nil
	}
	var family []figure
	for _, f := range judged {
		var own *figure
		if f.metric == "" {
			own = c.throughputs(pairs)
		} else if x, there := figureOf(pairs, f.metric, f.row.Percentile); there {
			own = &x
		}
		if own != nil && own.whole() {
			family = append(family, *own)
		}
	}
	c.Control = &Control{Pairs: len(pairs), Rows: []ControlRow{}}
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
	for k, f := range family {
		p := s.Points[k]
		row := ControlRow{Metric: f.metric, Percentile: f.row.Percentile, Ratio: p.Ratio}
		if p.Bounded {
			row.Lo, row.Hi, row.Bounded = p.Lo, p.Hi, true
			c.Control.Biased = c.Control.Biased || shiftAt(p, Confidence).Shown
		}
		c.Control.Rows = append(c.Control.Rows, row)
	}
	return nil
}

// Why says why nothing is decided; empty: the control does not prevent it.
func (c *Control) Why() string {
	if c == nil || !c.Biased {
		return ""
	}
	for _, r := range c.Rows {
		if r.Bounded && (r.Lo > 1 || r.Hi < 1) {
			return fmt.Sprintf("A beside A differs by %s (%s to %s) at %s, so the comparison has an error of its own", change(r.Ratio), change(r.Lo), change(r.Hi), rowWord(r.Percentile))
		}
	}
	return ""
}

func rowWord(percentile string) string {
	if percentile == throughput {
		return percentile
	}
	return "p" + percentile
}

// Unsound says why the pairs decide nothing, whatever their figures are; empty: they may.
func (c *Comparison) Unsound() string {
	if why := c.Beside.Disturbed(); why != "" {
		return why
	}
	if c.Design != nil && c.Design.Controls > 0 && !c.Control.bounded() {
		return fmt.Sprintf("the pairs with A on both sides give no interval, for which %d are needed", MinPairs)
	}
	return c.Control.Why()
}

// bounded reports whether the control shows how far A differs from A.
func (c *Control) bounded() bool {
	return c != nil && slices.ContainsFunc(c.Rows, func(r ControlRow) bool { return r.Bounded })
}

// unsoundFor is the cause of [Comparison.Unsound].
func (c *Comparison) unsoundFor() Cause {
	if c.Beside.Disturbed() != "" {
		return Disturbed
	}
	return BiasedControl
}
