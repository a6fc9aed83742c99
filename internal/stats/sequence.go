package stats

import "math"

// sequencePrior is the weight of the mixture behind [SequentialRanks], in values
// beyond the quantile. It decides at which n the interval is narrowest compared with
// that for a fixed n: with 100 to 1,000 values beyond the quantile it is 1.5 to 1.6
// times as wide, with 100,000 it is 1.9 times.
const sequencePrior = 40

// SequentialRanks is [QuantileRanks] for a sample that may be looked at any number
// of times, and that may end because of what was seen: the probability that the
// quantile p lies outside [x_(lo), x_(hi)] for any n at all is at most 1 − conf. So
// the interval at the end of a run keeps its confidence, whatever rule ended the run.
//
// With S the number of values at or below the quantile, binomial(n, p) at each n,
// and θ mixed over Beta(a, b) with a/(a+b) = p,
//
//	M_n = B(a+S, b+n−S) / (B(a, b) · p^S · (1−p)^(n−S))
//
// is a nonnegative martingale that begins at 1. By Ville's inequality it reaches
// 1/(1−conf) with a probability of at most 1 − conf; the ranks are those at which
// it has not (Howard and Ramdas, Sequential estimation of quantiles with
// applications to A/B testing and best-arm identification, Bernoulli 28, 2022;
// the mixture is Robbins', Annals of Mathematical Statistics 41, 1970). The only
// assumption is that the values are independent.
//
// ok is false if one of the ends is not among the values, and if p or conf lies
// outside (0, 1).
func SequentialRanks(n int64, p, conf float64) (lo, hi int64, ok bool) {
	if !(p > 0 && p < 1 && conf > 0 && conf < 1) || n < 2 {
		return 0, 0, false
	}
	m := newBetaMixture(p)
	limit := -math.Log1p(-conf)
	if m.log(n, 0) < limit || m.log(n, n) < limit {
		return 0, 0, false // all values may lie on one side of the quantile
	}
	// The logarithm is convex in S with its least value about n·p, where it is
	// below the limit.
	centre := min(max(int64(math.Round(float64(n)*p)), 0), n)
	edge := func(in, out int64) int64 { // the last value from in towards out that is below the limit
		for max(in, out)-min(in, out) > 1 {
			if mid := in + (out-in)/2; m.log(n, mid) < limit {
				in = mid
			} else {
				out = mid
			}
		}
		return in
	}
	// Bounds on the number of values at or below the quantile.
	return edge(centre, 0), edge(centre, n) + 1, true
}

// MinSequential returns the least number of independent values for which
// [SequentialRanks] has an interval; the largest int64 if p or conf lies outside (0, 1).
func MinSequential(p, conf float64) int64 {
	if !(p > 0 && p < 1 && conf > 0 && conf < 1) {
		return math.MaxInt64
	}
	lo, hi := int64(1), int64(2)
	for {
		if _, _, ok := SequentialRanks(hi, p, conf); ok {
			break
		}
		if lo, hi = hi, 2*hi; hi > 1<<60 {
			return math.MaxInt64
		}
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if _, _, ok := SequentialRanks(mid, p, conf); ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// betaMixture computes log M_n of [SequentialRanks].
type betaMixture struct {
	p, q, a, b float64
	start      float64 // a·ln p + b·ln q − ln B(a, b)
}

func newBetaMixture(p float64) betaMixture {
	weight := sequencePrior / min(p, 1-p)
	m := betaMixture{p: p, q: 1 - p, a: weight * p, b: weight * (1 - p)}
	m.start = m.a*math.Log(m.p) + m.b*math.Log(m.q) - logBetaTail(m.a, m.b) - m.entropy(m.a, m.b)
	return m
}

// log returns ln M_n with s of n values at or below the quantile. Both logarithms
// of Beta functions are split by Stirling's series, so that their large parts cancel
// analytically: the error is some 1e-9 for n = 1e12.
func (m betaMixture) log(n, s int64) float64 {
	a, b := m.a+float64(s), m.b+float64(n-s)
	total := a + b
	// total · KL(a/total ‖ p); δ is the difference.
	delta := (float64(s) - float64(n)*m.p) / total
	divergence := a*math.Log1p(delta/m.p) + b*math.Log1p(-delta/m.q)
	return divergence + logBetaTail(a, b) + m.start
}

// entropy is the part of ln B(a, b) that grows with a and b.
func (betaMixture) entropy(a, b float64) float64 {
	return a*math.Log(a/(a+b)) + b*math.Log(b/(a+b))
}

// logBetaTail is ln B(a, b) without that part, for a and b that are not small.
func logBetaTail(a, b float64) float64 {
	n := a + b
	series := func(x float64) float64 { return 1/(12*x) - 1/(360*x*x*x) }
	return 0.5*math.Log(2*math.Pi*n/(a*b)) + series(a) + series(b) - series(n)
}
