package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	// Low and High enclose it with the confidence asked for, if Bounded.
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Bounded bool    `json:"bounded"`
}

const (
	// LeastRounds is how many rounds an interval of [OverRounds] takes.
	LeastRounds = 3
	// replicates is how often the bootstrap puts them together anew.
	replicates = 999
)

// OverRounds returns figures that are computed from several rounds of the same
// experiment, and their intervals, whose unit is the round: what differs
// between rounds, and what is common to a round, is in them. figures computes them
// from rounds 0 to n−1, of which the bootstrap asks for some several times and for
// others not at all; NaN where one has none. It must not keep the slice.
//
// The interval is value ± t·s·√(n/(n−1)), where s is the standard deviation over
// 999 resamplings and t is Student's for n−1 degrees of freedom (Hesterberg, What
// teachers should know about the bootstrap, The American Statistician 69, 2015: the
// t interval with bootstrap standard error). The percentiles of the resamplings
// themselves would be much too narrow for the handful of rounds that people make.
// A figure that must be positive is best given as its logarithm.
//
// There is no interval of fewer than [LeastRounds] rounds, or where more than a
// fortieth of the resamplings have no such figure. The same seed gives the same
// intervals.
func OverRounds(n int, figures func(rounds []int) []float64, conf float64, seed uint64) []Estimate {
	pick := make([]int, n)
	for i := range pick {
		pick[i] = i
	}
	values := figures(pick)
	all := make([]Estimate, len(values))
	for k, v := range values {
		all[k] = Estimate{Value: v, Low: math.NaN(), High: math.NaN()}
	}
	if n < LeastRounds || !(conf > 0 && conf < 1) {
		return all
	}
	sums, squares, none := make([]float64, len(all)), make([]float64, len(all)), make([]int, len(all))
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for range replicates {
		for i := range pick {
			pick[i] = rng.IntN(n)
		}
		for k, v := range figures(pick) {
			// From the figure itself, so that the squares are small.
			if v -= all[k].Value; math.IsNaN(v) || math.IsInf(v, 0) {
				none[k]++
				continue
			}
			sums[k] += v
			squares[k] += v * v
		}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - (1-conf)/2)
	for k := range all {
		m := float64(replicates - none[k])
		if none[k] > replicates/40 {
			continue
		}
		variance := max(squares[k]-sums[k]*sums[k]/m, 0) / (m - 1)
		half := t * math.Sqrt(variance*float64(n)/float64(n-1))
		all[k].Low, all[k].High, all[k].Bounded = all[k].Value-half, all[k].Value+half, true
	}
	return all
}
