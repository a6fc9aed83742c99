package stats

import "gonum.org/v1/gonum/stat/distuv"

// EffectiveSize returns how many independent values would say as much about a
// quantile as those of the blocks do, at most their number; v is the value of the
// grid that the quantile lies at. With D the difference of a block's number of
// values above v from what its share of them would be,
//
//	n·q(1−q) / Σ_k cov(D_i, D_i+k),   q = the share above v,
//
// times n: the variance that independent values had, over the one that the run
// has. The sum over k ends where the covariances of two neighbouring k are no
// longer positive (Geyer, Practical Markov chain Monte Carlo, Statistical Science
// 7, 1992: the initial positive sequence): what follows is noise.
//
// ok is false of fewer than 2·[LeastChunks] blocks, and where all values or none
// lie above v.
func EffectiveSize(b Blocks, v int) (size float64, ok bool) {
	x, ok := excessOf(b, v)
	if !ok {
		return 0, false
	}
	variance, _ := x.variance()
	return x.all / max(1, variance/x.binomial), true
}

// excess is by how much each block's number of values above one of the grid differs from
// what their share in all blocks would be.
type excess struct {
	d        []float64
	all      float64 // values
	above    float64 // of them above
	binomial float64 // the variance of the sum of d if all were independent
}

// excessOf is false of fewer than 2·[LeastChunks] blocks, and where all values or none
// lie above v.
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

// variance is that of the sum, by the initial positive sequence, and memory how many
// blocks it takes until they have nothing in common any more.
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

// stretches are sums over the given number of blocks each; the last has the remainder.
func (x excess) stretches(length int) []float64 {
	sums := make([]float64, max(1, len(x.d)/length))
	for i, v := range x.d {
		sums[min(i/length, len(sums)-1)] += v
	}
	return sums
}

// margin is the factor by which a variance from n sums is enlarged for an interval
// with the normal law's quantile to be as wide as one with Student's. Where few of the
// sums make up most of it, its degrees of freedom are fewer (after Satterthwaite, An
// approximate distribution of estimates of variance components, Biometrics 2, 1946): of
// normal ones (Σs²)²/Σs⁴ is a third of their number, of a single burst it is one;
// they are taken for two at least.
func margin(sums []float64) float64 {
	var squares, fourths float64
	for _, s := range sums {
		squares += s * s
		fourths += s * s * s * s
	}
	const least = 2.0 // with one the margin is 42
	freedom := least
	if fourths > 0 {
		freedom = max(least, min(float64(len(sums)), 3*squares*squares/fourths)-1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975) / distuv.UnitNormal.Quantile(0.975)
	return t * t
}

// leastEvents is how many values must lie above a value before their positions mean anything.
const leastEvents = 4

// varianceStretches is how many stretches of a run one of the two estimates of
// [VarianceFactor] has.
const varianceStretches = 10

// VarianceFactor returns by how much the values of the blocks that lie above v vary more
// than those of independent messages would, at least 1: n values are worth n/factor
// independent ones for a quantile at v. It is the greater of two estimates: by the
// covariances of the blocks, as in [EffectiveSize], enlarged by Student's margin for how
// few sums it rests on; and by the sums over ten stretches of the run, which a long memory
// does not make too small. memory is how many blocks it takes until they have
// nothing in common any more.
//
// With fewer than four values above v, or up to it, the result is 1 and 0.
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
