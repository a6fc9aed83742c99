package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	// Low and High enclose Value with the confidence asked for, if Bounded; else NaN.
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Bounded bool    `json:"bounded"`
}

const (
	// LeastRounds is the least number of rounds for an interval of [OverRounds].
	LeastRounds = 3
	// replicates is the number of resamplings of the bootstrap.
	replicates = 999
)

// OverRounds returns figures that are computed from several rounds of the same
// experiment, and their intervals. A round is one sample, so the intervals include the
// differences between rounds. figures computes the figures from a list of round numbers,
// 0 to n−1; in the lists of the bootstrap some rounds occur several times and others
// not at all. A figure that cannot be computed is NaN. figures must not keep the slice.
//
// The interval is value ± t·s·√(n/(n−1)), where s is the standard deviation over
// 999 resamplings and t is Student's for n−1 degrees of freedom (Hesterberg, What
// teachers should know about the bootstrap, The American Statistician 69, 2015: the
// t interval with bootstrap standard error). The percentiles of the resamplings
// themselves would be much too narrow for the handful of rounds that people make.
// A figure that must be positive is best given as its logarithm.
//
// A figure has no interval with fewer than [LeastRounds] rounds, with conf outside (0, 1),
// or if more than 1/40 of the resamplings do not have it. The same seed gives the same
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
			// Sum the differences from the figure, so that the squares are small.
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
