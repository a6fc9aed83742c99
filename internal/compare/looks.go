package compare

import (
	"fmt"
	"math"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// mostLooks is how often a comparison is evaluated at most. Each look needs error probability of its own.
	mostLooks = 4
	// firstLook is the number of pairs at the first of several looks: the least that can show anything there.
	firstLook = 8
)

// Looks returns the numbers of pairs after which a comparison of at most this many pairs is evaluated. They grow
// geometrically from 8, the least number of pairs that can show something at the first look's share of the error.
func Looks(pairs int) []int {
	n := 1
	switch {
	case pairs >= 20:
		n = mostLooks
	case pairs >= 16:
		n = 3
	case pairs >= 12:
		n = 2
	}
	var out []int
	for i := range n - 1 {
		out = append(out, int(math.Round(firstLook*math.Pow(float64(pairs)/firstLook, float64(i)/float64(n-1)))))
	}
	return append(out, pairs)
}

// level is the confidence level of the intervals of a comparison of this many pairs.
func level(looks []int, pairs int) float64 { return stats.LookConfidence(looks, pairs, Confidence) }

// Planned is the confidence of the interval of each of this many rows at the last look, by Bonferroni's correction for the
// rows. The sign flips need less of it where rows move together.
func Planned(looks []int, rows int) float64 {
	return 1 - (1-level(looks, looks[len(looks)-1]))/float64(rows)
}

// unfinished returns how many pairs a comparison was to have that was ended before it was over; 0: it was not. A number of
// pairs is fixed beforehand, and so are the looks of a budget: an evaluation at another time, chosen by what is seen, is one
// that no interval allows for.
func unfinished(d *result.Design, pairs int, ended bool) int {
	if len(d.Looks) == 0 {
		return 0 // of a file that does not say
	}
	switch planned := d.Looks[len(d.Looks)-1]; {
	case pairs >= planned:
		return 0
	case d.Budget == 0 || ended:
		return planned
	}
	return 0
}

// unfinished says that the comparison was ended before it was over; empty: it was not.
func (c *Comparison) unfinished() string {
	if c.Planned == 0 {
		return ""
	}
	most := ""
	if c.Design.Budget > 0 {
		most = "at most "
	}
	return fmt.Sprintf("%d of %s%s were made, and a comparison decides only when it is over: --resume continues", c.Made, most, spell.Plural(int64(c.Planned), "planned pair"))
}

// designOf is how the runs of an ab were made; nil: it is not known.
func designOf(pairs []couple) *result.Design {
	if len(pairs) == 0 {
		return nil
	}
	return pairs[0].runs[0].Header.Trial.Design
}

// Settled reports whether more pairs can change nothing that is asked: each judged figure is slower, faster or within
// what matters, or can never be decided.
func (c *Comparison) Settled() bool {
	if len(c.Pairs) < MinPairs {
		return false
	}
	if c.Background || c.Refused != "" || c.Beside.Disturbed() != "" {
		return true
	}
	settled := true
	c.eachRow(func(r *Row) {
		open := r.Outcome == Undecided || r.Outcome == NotSlower
		settled = settled && (!open || r.Cause == BiasedControl || r.Cause == NoControl)
	})
	return settled
}
