package stats

import "gonum.org/v1/gonum/stat/distuv"

// EffectiveSize returns how many independent values would estimate a quantile as exactly
// as the values of the blocks do, at most their number; v is the quantile's value on the
// grid. With D the number of a block's values above v minus its expected number,
//
//	n·q(1−q) / Σ_k cov(D_i, D_i+k),   q = the share above v,
//
// times n: the variance for independent values, divided by the run's. The sum over k ends
// where the covariances of two neighbouring k are no longer positive, because the rest is
// noise (Geyer, Practical Markov chain Monte Carlo, Statistical Science 7, 1992: the
// initial positive sequence).
//
// ok is false for fewer than 2·[LeastChunks] blocks, and if all values or none lie above v.
func EffectiveSize(b Blocks, v int) (size float64, ok bool) {
	x, ok := excessOf(b, v)
	if !ok {
		return 0, false
	}
	variance, _ := x.variance()
	return x.all / max(1, variance/x.binomial), true
}

// excess is the difference between each block's number of values above a value of the grid
// and its expected number, which is the share above in all blocks times the block's count.
type excess struct {
	d        []float64
	all      float64 // number of values
	above    float64 // number of values above
	binomial float64 // the variance of the sum of d if all were independent
}

// excessOf returns false for fewer than 2·[LeastChunks] blocks, and if all values or none lie
// above v.
func excessOf(b Blocks, v int) (x excess, ok bool) {
	n := b.Len()
	if n < 2*LeastChunks {
		return x, false
	}
	x.d = make([]float64, n)
	for i := range n {
		x.d[i] = float64(b.Above(i, v))
		x.above += x.d[i]
		x.all += float64(b.Count(i))
	}
	q := x.above / x.all
	if !(q > 0 && q < 1) {
		return x, false
	}
	for i := range n {
		x.d[i] -= q * float64(b.Count(i))
	}
	x.binomial = x.all * q * (1 - q)
	return x, true
}

// variance returns the variance of the sum of d, by the initial positive sequence, and memory,
// the number of blocks after which blocks are no longer correlated.
func (x excess) variance() (variance float64, memory int) {
	n := len(x.d)
	products := func(k int) (sum float64) {
		for i := k; i < n; i++ {
			sum += x.d[i] * x.d[i-k]
		}
		return sum
	}
	variance = -products(0)
	for ; memory+1 < n; memory += 2 {
		pair := products(memory) + products(memory+1)
		if pair <= 0 {
			break
		}
		variance += 2 * pair
	}
	return variance, memory
}

// stretches returns the sums of d over the given number of blocks each; the last includes the
// remainder.
func (x excess) stretches(length int) []float64 {
	sums := make([]float64, max(1, len(x.d)/length))
	for i, v := range x.d {
		sums[min(i/length, len(sums)-1)] += v
	}
	return sums
}

// margin returns the factor for a variance estimated from these sums, with which an interval
// by the normal quantile is as wide as one by Student's. If a few sums make up most of the
// variance, its degrees of freedom are fewer (after Satterthwaite, An approximate
// distribution of estimates of variance components, Biometrics 2, 1946): (Σs²)²/Σs⁴ is a
// third of the number of sums if they are normal, and 1 for a single burst. At least two
// degrees are assumed.
func margin(sums []float64) float64 {
	var squares, fourths float64
	for _, s := range sums {
		squares += s * s
		fourths += s * s * s * s
	}
	const least = 2.0 // with one degree the margin would be 42
	freedom := least
	if fourths > 0 {
		freedom = max(least, min(float64(len(sums)), 3*squares*squares/fourths)-1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975) / distuv.UnitNormal.Quantile(0.975)
	return t * t
}

// leastEvents is how many values must lie above a value before their positions mean anything.
const leastEvents = 4

// varianceStretches is the number of stretches in the second estimate of [VarianceFactor].
const varianceStretches = 10

// VarianceFactor returns the variance of the number of values above v, divided by the one of
// independent messages, at least 1: n values are worth n/factor independent ones for a
// quantile at v. It is the larger of two estimates. One is from the covariances of the
// blocks, as in [EffectiveSize], enlarged by Student's margin for its number of sums. The
// other is from the sums over ten stretches of the run, which a long memory does not make
// too small. memory is the number of blocks after which blocks are no longer correlated.
//
// With fewer than four values above v, or at or below it, the result is 1 and 0.
func VarianceFactor(b Blocks, v int) (factor float64, memory int) {
	x, ok := excessOf(b, v)
	if !ok || min(x.above, x.all-x.above) < leastEvents {
		return 1, 0
	}
	variance, memory := x.variance()
	variance *= margin(x.stretches(min(2*memory+2, len(x.d)/LeastChunks)))
	sums := x.stretches(max(1, len(x.d)/varianceStretches))
	var squares float64
	for _, s := range sums {
		squares += s * s
	}
	m := float64(len(sums))
	variance = max(variance, squares*m/(m-1))
	return max(1, variance/x.binomial), memory
}
