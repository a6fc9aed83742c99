package stats

import (
	"math"
	"math/big"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

// QuantileRanks returns the ranks of the order statistics that enclose the
// quantile p of the population with at least the given confidence, from a
// sample of n independent values: [x_(lo), x_(hi)], ranks from 1 to n, lo < hi.
// With a histogram, use the lower edge of the bucket that holds rank lo and the
// upper edge of the one that holds rank hi. Nothing is assumed about the
// distribution (Hahn and Meeker, Statistical Intervals, chapter 5).
//
// With X binomial(n, p), lo is the largest rank for which P(X < lo), and hi the
// smallest for which P(X ≥ hi), is at most (1-conf)/2. So the coverage
// B(hi-1) - B(lo-1) is at least conf, either end is a one-sided bound at
// 1 - (1-conf)/2, and the interval is the tightest for which that holds. Giving
// one side more of the error often makes it shorter, but that result would depend
// on the order of the attempts and is not offered.
//
// ok is false if the sample has no such ranks, which is if n is below
// [MinSamples], and if p or conf lies outside (0, 1). The ranks are exact for
// every n up to 1e12 (and the arithmetic holds beyond); the time grows with
// √(n·p·(1-p)) and is some tens of milliseconds at 1e12 and the median.
//
// Messages with a common cause are not independent; the caller must choose n
// accordingly.
func QuantileRanks(n int64, p, conf float64) (lo, hi int64, ok bool) {
	if n < MinSamples(p, conf) {
		return 0, 0, false
	}
	b := binomial{n, p, 1 - p}
	alpha := (1 - conf) / 2
	hi = b.smallest(alpha)
	// The lower rank is the upper rank of the mirrored distribution.
	lo = n + 1 - b.mirror().smallest(alpha)
	if lo < 1 || hi > n {
		return 0, 0, false
	}
	return lo, hi, true
}

// smallest returns the smallest k with P(X ≥ k) ≤ alpha, n+1 if no smaller k has it.
// The search starts from the normal approximation, so that it needs only a few steps,
// however large n is.
func (b binomial) smallest(alpha float64) int64 {
	mean := float64(b.n) * b.p
	guess := mean + mathext.NormalQuantile(1-alpha)*math.Sqrt(mean*b.q)
	k := min(max(int64(math.Ceil(guess)), int64(mean)+1), b.n)
	tail := b.above(k)
	if tail > alpha {
		for tail > alpha && k <= b.n {
			tail -= b.pmf(k)
			k++
		}
		return k
	}
	for k > 0 {
		tail += b.pmf(k - 1)
		if tail > alpha {
			break
		}
		k--
	}
	return k
}

// MinSamples returns the least number of independent values for which the
// quantile p has a two-sided interval with both ends finite at the given
// confidence: ceil(ln((1-conf)/2) / ln p). At 95 % that is 368 for p99, 3,688
// for p99.9, and in general about 3.7 values beyond the quantile. Below the
// median the lower end decides, and 1-p replaces p. The result is the largest
// int64 if p or conf lies outside (0, 1).
func MinSamples(p, conf float64) int64 {
	if !(p > 0 && p < 1 && conf > 0 && conf < 1) {
		return math.MaxInt64
	}
	common := max(p, 1-p)
	n := math.Ceil(math.Log((1-conf)/2) / logOf(common, min(p, 1-p)))
	if n >= math.MaxInt64 { // 1-p below 1e-18
		return math.MaxInt64
	}
	return max(int64(n), 1)
}

// Rank returns the nearest rank ceil(percent/100 · n) of a percentile: the
// value of that rank, counted from 1 upwards, is the percentile. percent stands for
// the shortest decimal that identifies the float64. So 99.9 of 1000 is rank 999,
// where floating point may give 999.0000…1 and the ceiling 1000. (HdrHistogram's
// Java code subtracts one ulp from the percentile instead, which works up to some
// 1e13 values.) The rank is clamped to [1, n]; NaN counts as 100, and an empty
// sample has rank 0.
func Rank(n int64, percent float64) int64 {
	switch {
	case n <= 0:
		return 0
	case !(percent < 100):
		return n
	case percent <= 0:
		return 1
	}
	return max(ceilShare(n, percent, 100), 1)
}

// ceilShare returns ceil(n · share/whole) for 0 < share < whole, with share as its
// shortest decimal.
func ceilShare(n int64, share float64, whole int64) int64 {
	down, exact := shareOf(n, share, whole)
	if exact {
		return down
	}
	return down + 1
}

// shareOf returns floor(n · share/whole), with share as its shortest decimal, and
// whether the quotient is a whole number.
func shareOf(n int64, share float64, whole int64) (down int64, exact bool) {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(share, 'g', -1, 64))
	if !ok {
		return n, true
	}
	r.Mul(r, big.NewRat(n, whole))
	c, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	return c.Int64(), rest.Sign() == 0
}

// Fraction returns percent/100 as the float64 nearest to that decimal: 0.999
// for 99.9, where the division 99.9/100 gives 0.9990000000000001.
func Fraction(percent float64) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(percent, 'f', -1, 64)+"e-2", 64)
	if err != nil { // NaN, infinities
		return percent / 100
	}
	return f
}
