package study

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// medianQuotient is where the median of the rounds' quotients lies with some confidence, whatever the figures
// are of the rounds in which they are not known; 0 and infinite where that is not bounded.
type medianQuotient struct {
	low, high       float64
	rounds, unknown int
}

// whole returns the median of A ÷ B over all planned rounds. None is left out: a round of which nothing
// is known has a quotient of 0 for the one end and an infinite one for the other. Of nine rounds one may
// be so, of twelve two.
func (d *decider) whole(a, b *CellOutcome, name string, confidence float64) medianQuotient {
	one, other := d.read(a, name).figures, d.read(b, name).figures
	unknown := absentOf(a, d.t.Workload).rounds + absentOf(b, d.t.Workload).rounds
	q := medianQuotient{high: math.Inf(1), unknown: unknown}
	low, high := make([]float64, unknown), slices.Repeat([]float64{math.Inf(1)}, unknown)
	for round, f := range one {
		g, both := other[round]
		if !both {
			continue // INVALID: another round was made in its place, or it is among the unknown
		}
		least, most := f.compared()
		smallest, largest := g.compared()
		low, high = append(low, least/largest), append(high, most/smallest)
		if least == 0 && math.IsInf(most, 1) || smallest == 0 && math.IsInf(largest, 1) {
			q.unknown++
		}
	}
	q.rounds = len(low)
	first, last, ok := stats.QuantileRanks(int64(q.rounds), 0.5, confidence)
	if !ok {
		return q
	}
	slices.Sort(low)
	slices.Sort(high)
	q.low, q.high = low[first-1], high[last-1]
	return q
}

// compared returns between which values a figure lies in a comparison: 0 and infinite if nothing is
// known. A figure near the noise floor has no range, since the other's figure has that noise, too.
func (f *Figure) compared() (least, most float64) {
	least, most = f.ends(false)
	switch {
	case f.Missing == "" && f.Unsteady:
		least, most = f.Value, f.Value
	case f.Missing == "" && f.Unfit != "" && f.Selects && !f.AtLeast:
		least, most = 0, math.Inf(1)
	}
	if !(least > 0) || math.IsInf(least, 0) {
		least = 0
	}
	if !(most > 0) {
		least, most = 0, math.Inf(1) // a quotient of 0 and 0 says nothing
	}
	return least, most
}

// bounded reports whether anything is known of the median.
func (q medianQuotient) bounded() bool { return q.low > 0 || !math.IsInf(q.high, 1) }

// text says where the median lies.
func (q medianQuotient) text() string {
	where := fmt.Sprintf("between %s and %s", spell.Number(q.low), spell.Number(q.high))
	switch {
	case math.IsInf(q.high, 1):
		where = "at least " + spell.Number(q.low)
	case q.low == 0:
		where = "at most " + spell.Number(q.high)
	}
	return fmt.Sprintf("%s in %d rounds, whatever it is in the %d of which nothing is known", where, q.rounds, q.unknown)
}
