package compare

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/stats"
	"sixnines/result"
)

// takes sets what B takes from A: how A beside B compares with A beside A. Both kinds of pairs are made in turn, so by chance alone
// their figures of A are exchangeable. family is the number of figures tested at once, and minEffect the least change that matters:
// what is taken matters from there on, too.
func (r *ControlRow) takes(beside, control []float64, family int, minEffect float64) {
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
	ratio, most := stats.Median(beside)/stats.Median(control), min(mostSlowed, 1+minEffect)
	p := 2 * min(stats.FisherExact(x, n, y, m), stats.FisherExact(y, m, x, n))
	if p <= (1-Confidence)/float64(family) && (ratio > most || ratio < 1/most) {
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
// is, and a B that A slows looks worse. What is shown in spite of that stays. What is shown at one percentile counts for all of the
// metric: a wide spread of another one may hide the same.
func (c *Comparison) withoutTaken(row *Row, m result.Metric) {
	if c.Control == nil {
		return
	}
	worst := ControlRow{Taken: 1}
	for _, r := range c.Control.Rows {
		if r.Metric == m && r.Taken != 0 && hides(r.Taken, row.Outcome) && math.Abs(math.Log(r.Taken)) > math.Abs(math.Log(worst.Taken)) {
			worst = r
		}
	}
	if worst.Taken == 1 {
		return
	}
	at, what := "", "what B takes from it hides how slow B is"
	if worst.Percentile != row.Percentile {
		at = " at " + rowWord(worst.Percentile)
	}
	if worst.Taken < 1 {
		what = "what A takes from B may be what slows B"
	}
	row.Outcome = Undecided
	row.judged = &Judged{Answer: Open, Cause: Disturbed, Text: fmt.Sprintf("A beside B differs by %s from A beside A%s, so %s", change(worst.Taken), at, what)}
}

// hides reports whether an outcome may be due to what is taken.
func hides(taken float64, o Outcome) bool {
	if taken < 1 {
		return o == Slower || o == Same
	}
	return o == Faster || o == Same || o == NotSlower
}
