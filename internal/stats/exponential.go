package stats

import (
	"math"
	"slices"
)

// Critical values of Anderson and Darling's A² where the distribution is fully
// known (Stephens 1974; RFC 2330, appendix).
const (
	AndersonDarling5 = 2.492 // exceeded with probability 5 %
	AndersonDarling1 = 3.880 // exceeded with probability 1 %
)

// ExponentialFit says how far a sample is from an exponential distribution.
type ExponentialFit struct {
	// A2 is Anderson and Darling's statistic
	// -n - (1/n)·Σ (2i-1)·ln z_i + (2n+1-2i)·ln(1-z_i), z_i = 1-exp(-x_i/mean).
	A2 float64
	// Distance is the largest difference between the sample's distribution
	// function and the exponential one (Kolmogorov's D), from 0 to 1. It is the
	// size of the effect, and does not grow with the sample.
	Distance float64
	N        int
}

// FitExponential compares gaps between arrivals with an exponential
// distribution of known mean, as those of a Poisson process are. Compare A2
// with [AndersonDarling5] or [AndersonDarling1], on samples of 200 to 1000:
// larger samples always reject, because no clock is perfect; Distance then says
// whether the difference matters.
//
// resolution is the step of the clock, in the unit of the gaps; 0 for a
// continuous clock. A gap below half of it, zero included, counts as half of it:
// ln 0 would make A2 infinite for the first two arrivals within one step. The
// gaps are neither changed nor kept. ok is false if gaps is empty, one is
// negative or not finite, the mean is not positive and finite, or resolution is
// negative.
func FitExponential(gaps []float64, mean, resolution float64) (fit ExponentialFit, ok bool) {
	if len(gaps) == 0 || !(mean > 0) || math.IsInf(mean, 0) || !(resolution >= 0) {
		return ExponentialFit{}, false
	}
	x := slices.Clone(gaps)
	slices.Sort(x)
	if !(x[0] >= 0) || math.IsInf(x[len(x)-1], 0) { // NaN sorts first
		return ExponentialFit{}, false
	}
	n := float64(len(x))
	var sum, distance float64
	for i, v := range x {
		v = max(v, resolution/2) / mean
		z := -math.Expm1(-v)
		below, upTo := float64(i), float64(i+1)
		// ln(1-z) is -v exactly.
		sum += (2*upTo-1)*math.Log(z) - (2*(n-upTo)+1)*v
		distance = max(distance, upTo/n-z, z-below/n)
	}
	return ExponentialFit{A2: -n - sum/n, Distance: distance, N: len(x)}, true
}
