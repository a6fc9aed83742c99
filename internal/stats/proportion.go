package stats

import "math"

// ProportionInterval returns the interval of Clopper and Pearson (1934) for a
// probability after k successes in n independent trials: each end has
// at most (1-conf)/2 of error, whatever the probability is. With k = 0 the
// lower end is 0, with k = n the upper one 1. ok is false where n < 1, k is not
// in [0, n], or conf not in (0, 1).
//
// To test exceedances against the share 1-p that a quantile p allows, count
// episodes, not messages, wherever one stall makes many of them.
func ProportionInterval(k, n int64, conf float64) (lo, hi float64, ok bool) {
	if n < 1 || k < 0 || k > n || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	alpha := (1 - conf) / 2
	if k > n/2 {
		// Solve for the smaller of the two probabilities: it has the better relative precision.
		return 1 - proportionUpper(n-k, n, alpha), 1 - proportionLower(n-k, n, alpha), true
	}
	return proportionLower(k, n, alpha), proportionUpper(k, n, alpha), true
}

// proportionLower returns the p for which P(X ≥ k) is alpha.
func proportionLower(k, n int64, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	return bisect(0, float64(k)/float64(n), func(p float64) bool {
		return binomial{n, p, 1 - p}.above(k) <= alpha
	})
}

// proportionUpper returns the p for which P(X ≤ k) is alpha.
func proportionUpper(k, n int64, alpha float64) float64 {
	if k == n {
		return 1
	}
	return bisect(float64(k)/float64(n), 1, func(p float64) bool {
		return binomial{n, p, 1 - p}.below(k) > alpha
	})
}

// bisect returns the largest float64 in [lo, hi] for which left holds; left must hold
// up to some point and not beyond. Positive floats are ordered like their bits, so at
// most 63 steps give full relative precision.
func bisect(lo, hi float64, left func(float64) bool) float64 {
	a, b := math.Float64bits(lo), math.Float64bits(hi)
	for a+1 < b {
		m := a + (b-a)/2
		if left(math.Float64frombits(m)) {
			a = m
		} else {
			b = m
		}
	}
	return math.Float64frombits(a)
}
