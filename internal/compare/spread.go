package compare

import (
	"math"
	"slices"

	"sixnines/internal/stats"
)

// Spread is what the interval of a change is made of, as standard deviations of log ratios of B and A: 0.01 is about 1 %.
type Spread struct {
	Pairs  float64 `json:"pairs"`            // from pair to pair, of which the interval is made
	Slices float64 `json:"slices,omitempty"` // from slice to slice within a pair; 0: not known
	// Decides is about how many pairs would decide a figure that is not decided because its interval is too wide, if the change
	// and the spread stay what they are. 0: it is decided, or too near to the least change that matters for [mostNeeded].
	Decides int `json:"decides,omitempty"`
}

// mostNeeded is the largest number of pairs that a comparison is said to need: beyond, runs should be longer.
const mostNeeded = 1000

// spread sets what the intervals of judged figures are made of.
func (c *Comparison) spread(family []figure) {
	for _, f := range family {
		if f.row.Shift == nil || !f.judged {
			continue
		}
		s := &Spread{Pairs: deviation(f)}
		if i := slices.IndexFunc(c.Slices, func(x Slices) bool { return x.Metric == f.metric && x.Percentile == f.row.Percentile }); i >= 0 {
			s.Slices = c.Slices[i].spread()
		}
		if f.row.Outcome == NotSlower || f.row.Outcome == Undecided && f.row.judged.Cause == WideInterval {
			s.Decides = c.decides(s.Pairs, f.row.Shift.Ratio, len(family))
		}
		f.row.Spread = s
	}
}

// deviation is the standard deviation of a figure's log ratio over the pairs, all of which have one.
func deviation(f figure) float64 {
	sum, sq, n := 0.0, 0.0, float64(len(f.values[0]))
	for i, a := range f.values[0] {
		d := math.Log(f.values[1][i] / a)
		sum, sq = sum+d, sq+d*d
	}
	return math.Sqrt(max(0, sq-sum*sum/n) / max(1, n-1))
}

// decides is about how many pairs of this spread decide a change, if so many figures are judged at once; 0: more than
// [mostNeeded].
func (c *Comparison) decides(spread, ratio float64, rows int) int {
	away := math.Abs(math.Abs(math.Log(ratio)) - math.Log1p(c.MinEffect))
	conf := 1 - (1-c.Confidence)/float64(rows)
	for n := len(c.Pairs) + 1; n <= mostNeeded; n++ {
		if stats.HalfWidth(n, conf)*spread < away {
			return n
		}
	}
	return 0
}
