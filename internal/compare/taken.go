package compare

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/stats"
	"sixnines/result"
)

// takes sets what B takes from A: how A beside B compares with A beside A. Both kinds of pairs are made in turn, so by chance alone
// their figures of A are exchangeable. family is the number of figures tested at once.
func (r *ControlRow) takes(beside, control []float64, family int) {
	all := slices.Concat(beside, control)
	middle := stats.Median(all)
	above := func(x []float64) (n int) {
		for _, v := range x {
			if v > middle {
				n++
			}
		}
		return n
	}
	n, m, x, y := len(beside), len(control), above(beside), above(control)
	if n == 0 || m == 0 {
		return
	}
	ratio := stats.Median(beside) / stats.Median(control)
	p := 2 * min(stats.FisherExact(x, n, y, m), stats.FisherExact(y, m, x, n))
	if p <= (1-Confidence)/float64(family) && (ratio > mostSlowed || ratio < 1/mostSlowed) {
		r.Taken = ratio
	}
}

// ofControl are a figure of A in pairs with A on both sides: the geometric mean of both.
func (f *figure) ofControl() (values []float64) {
	for i, a := range f.values[0] {
		values = append(values, math.Sqrt(a*f.values[1][i]))
	}
	return values
}

// withoutTaken withdraws an outcome that may be due to what one side takes from the other: a B that slows A looks better than it
// is, and a B that A slows looks worse. What is shown in spite of that stays.
func (c *Comparison) withoutTaken(row *Row, m result.Metric) {
	if c.Control == nil {
		return
	}
	i := slices.IndexFunc(c.Control.Rows, func(r ControlRow) bool { return r.Metric == m && r.Percentile == row.Percentile })
	if i < 0 || c.Control.Rows[i].Taken == 0 {
		return
	}
	taken := c.Control.Rows[i].Taken
	hidden := []Outcome{Faster, Same, NotSlower}
	what := "what B takes from it hides how slow B is"
	if taken < 1 {
		hidden, what = []Outcome{Slower, Same}, "what A takes from B may be what slows B"
	}
	if slices.Contains(hidden, row.Outcome) {
		row.Outcome = Undecided
		row.judged = &Judged{Answer: Open, Cause: Disturbed, Text: fmt.Sprintf("A beside B differs by %s from A beside A, so %s", change(taken), what)}
	}
}
