package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Blocks is a run cut into stretches of time, for intervals that do not take
// messages for independent.
type Blocks interface {
	// Len is the number of blocks, in order of time.
	Len() int
	// Count is how many values block i has, Above how many of them lie above v,
	// which must not grow with v.
	Count(i int) int64
	Above(i int, v int) int64
}

const (
	// LeastChunks is how many stretches a run must consist of for resampling
	// them to say something.
	LeastChunks = 10
	// replicates is how many runs are made of them.
	replicates = 999
)

// ChunkLength returns how many blocks to keep together when those of a run of n
// are resampled: as many as the longest burst has, and at least what serves a
// series in which neighbours have the correlation rho: of order n^(1/3) (Künsch,
// Annals of Statistics 17, 1989), times what Carlstein (Annals of Statistics 14,
// 1986) has for an autoregressive one, (√6·ρ/(1−ρ²))^(2/3), if that is more than
// 1. ok is false where fewer than [LeastChunks] such stretches make the run.
func ChunkLength(n, burst int, rho float64) (length int, ok bool) {
	factor := 1.0
	if rho = min(rho, 0.99); rho > 0 {
		factor = max(1, math.Pow(math.Sqrt(6)*rho/(1-rho*rho), 2.0/3))
	}
	length = max(1, burst, int(math.Round(factor*math.Cbrt(float64(n)))))
	return length, n >= LeastChunks*length
}

// Autocorrelation returns the correlation of neighbours in a series, 0 where
// nothing varies.
func Autocorrelation(x []float64) float64 {
	if len(x) == 0 || slices.Min(x) == slices.Max(x) {
		return 0 // what rounding leaves of the differences from the mean is correlated
	}
	m := mean(x)
	var own, neighbours float64
	for i, v := range x {
		own += (v - m) * (v - m)
		if i > 0 {
			neighbours += (v - m) * (x[i-1] - m)
		}
	}
	if !(own > 0) {
		return 0
	}
	return neighbours / own
}

// BlockQuantile returns the interval of the quantile p by the moving-block
// bootstrap: 999 runs are put together from stretches of length blocks that
// begin anywhere, around the end of the run (Politis and Romano, 1992, so that no
// block counts less than others), and the interval is what the quantile of these
// runs encloses. For v from 0 to values-1, lo and hi are the least with the
// wanted share of runs at or below them.
//
// A bootstrap of few stretches is too narrow. So the shares taken are not α/2,
// but the normal's at the bound that Student's t has there (Hesterberg, What
// teachers should know about the bootstrap, 2015: the expanded percentile
// interval), as if the stretches were the observations.
//
// extra values, none of them in a block, lie above all of v: such as messages
// that never came back. The same seed gives the same interval. ok is false where
// [ChunkLength] says so, where nothing was counted, or where the quantile lies
// among the extra.
func BlockQuantile(b Blocks, p, conf float64, length, values int, extra int64, seed uint64) (lo, hi int, ok bool) {
	n := b.Len()
	if length < 1 || n < LeastChunks*length || values < 1 || !(p > 0 && p < 1 && conf > 0 && conf < 1) {
		return 0, 0, false
	}
	chunks := (n + length - 1) / length
	rest := n - (chunks-1)*length // of the last one
	rng := rand.New(rand.NewPCG(seed, uint64(length)))
	starts := make([]int32, replicates*chunks)
	for i := range starts {
		starts[i] = int32(rng.IntN(n))
	}
	sums := make([]int64, 2*n+1) // up to each block, twice around
	prepare := func(f func(i int) int64) {
		for i := range n {
			sums[i+1] = sums[i] + f(i)
		}
		for i := range n {
			sums[n+i+1] = sums[n] + sums[i+1]
		}
	}
	of := func(run int) (sum int64) {
		own := starts[run*chunks : (run+1)*chunks]
		for _, s := range own[:chunks-1] {
			sum += sums[int(s)+length] - sums[s]
		}
		last := int(own[chunks-1])
		return sum + sums[last+rest] - sums[last]
	}
	prepare(b.Count)
	var allowed [replicates]int64 // how many values may lie above the quantile
	for i := range allowed {
		total := of(i) + extra
		if total == 0 {
			return 0, 0, false
		}
		if allowed[i] = total - ceilShareFast(total, p) - extra; allowed[i] < 0 {
			return 0, 0, false
		}
	}
	below := func(v int) (count int) { // runs of which the quantile is at most v
		prepare(func(i int) int64 { return b.Above(i, v) })
		for i := range allowed {
			if of(i) <= allowed[i] {
				count++
			}
		}
		return count
	}
	least := func(count, from int) int {
		a, z := from-1, values-1 // below(a) < count ≤ below(z)
		for a+1 < z {
			if m := (a + z) / 2; below(m) >= count {
				z = m
			} else {
				a = m
			}
		}
		return z
	}
	tail := expanded((1-conf)/2, chunks)
	rank := max(1, int(tail*(replicates+1)))
	lo = least(rank, 0)
	hi = least(replicates+1-rank, lo)
	return lo, hi, true
}

// expanded returns the tail probability for n observations that makes a
// percentile interval as wide as Student's t does.
func expanded(alpha float64, n int) float64 {
	m := float64(n)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m - 1}.Quantile(1 - alpha)
	return 0.5 * math.Erfc(math.Sqrt(m/(m-1))*t/math.Sqrt2)
}

// ceilShareFast is ceil(n·p) but for what floating point adds to a product that
// is whole.
func ceilShareFast(n int64, p float64) int64 {
	x := float64(n) * p
	return int64(math.Ceil(x - 1e-9*math.Max(1, x*1e-6)))
}
