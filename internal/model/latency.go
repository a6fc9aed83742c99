package model

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// Latency is one distribution: every value, the lower bounds of messages that never came, and
// the number of refused ones. Values are ns.
type Latency struct {
	Metric  string
	Values  []int64 // resolved, ascending
	Bounds  []int64 // lower bounds of the unresolved, ascending
	Refused int64
	Samples int64

	all []int64 // values and bounds, ascending
}

// slotLength is the length of a slot of intended time, ns.
const slotLength = 100_000_000

func (x *Latency) add(v int64)   { x.Values = append(x.Values, v) }
func (x *Latency) bound(v int64) { x.Bounds = append(x.Bounds, v) }
func (x *Latency) refuse()       { x.Refused++ }

// finish sorts the values; samples is the number of messages behind them.
func (x *Latency) finish(samples int64) {
	slices.Sort(x.Values)
	slices.Sort(x.Bounds)
	x.all = slices.Sorted(slices.Values(append(slices.Clone(x.Values), x.Bounds...)))
	x.Samples = samples
}

func (x *Latency) total() int64 { return int64(len(x.Values)+len(x.Bounds)) + x.Refused }

// Figure is a percentile.
type Figure struct {
	Value   int64 // ns; a lower bound if AtLeast
	AtLeast bool  // unresolved or refused messages reach it
	Refused bool
	Needs   int64 // above 0: the figure is missing and needs this many messages
}

// percentile returns a percentile by its text, such as "99.9".
func (x *Latency) percentile(p string) Figure {
	share := decimal(p)
	if needs := leastSamples(share); x.Samples < needs || x.total() == 0 {
		return Figure{Needs: needs}
	}
	return x.rank(nearestRank(x.total(), share))
}

// below returns the largest figure of the published percentiles below the given one.
func (x *Latency) below(p string) (v int64) {
	for _, lower := range percentiles() {
		if lower == p {
			break
		}
		if f := x.percentile(lower); f.Needs == 0 {
			v = max(v, f.Value)
		}
	}
	return v
}

// rank returns the figure of a rank, from 1. The resolved rank by value; the unresolved rank
// above them, with the figure that the distribution has there with each at its bound; the
// refused rank above all.
func (x *Latency) rank(r int64) Figure {
	resolved, answered := int64(len(x.Values)), int64(len(x.all))
	f := Figure{Refused: r > answered, AtLeast: r > resolved}
	switch r = min(r, answered); {
	case answered == 0:
	case r > resolved:
		f.Value = x.all[r-1]
	default:
		f.Value = x.Values[r-1]
	}
	return f
}

// span returns the exact 95 % interval of a percentile for independent messages; ok is false
// if the sample is too small.
func (x *Latency) span(p string) (low, high Figure, ok bool) {
	share := decimal(p)
	lo, hi, ok := ranks(x.Samples, share)
	if !ok || x.Samples < leastSamples(share) {
		return low, high, false
	}
	n := x.total()
	// With several deliveries for each message, the interval reaches from the first delivery
	// of the lower message to the last delivery of the upper one.
	first, _ := new(big.Int).DivMod(big.NewInt((lo-1)*n), big.NewInt(x.Samples), new(big.Int))
	last := (hi*n + x.Samples - 1) / x.Samples
	return x.rank(first.Int64() + 1), x.rank(last), true
}

// decimal returns the share of a percentile's text, exactly.
func decimal(p string) *big.Rat {
	x, ok := new(big.Rat).SetString(p)
	if !ok {
		panic("model: percentile " + p)
	}
	return x.Quo(x, big.NewRat(100, 1))
}

// nearestRank is ⌈share·n⌉.
func nearestRank(n int64, share *big.Rat) int64 {
	x := new(big.Rat).Mul(share, new(big.Rat).SetInt64(n))
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() > 0 {
		return q.Int64() + 1
	}
	return max(q.Int64(), 1)
}

// leastSamples is ln 0.025 ÷ ln p, rounded up; below the median with 1 − p for p.
func leastSamples(share *big.Rat) int64 {
	p, _ := share.Float64()
	return int64(math.Ceil(math.Log(0.025) / math.Log(max(p, 1-p))))
}

// ranks are l < u with P(X < l) ≤ 2.5 % and P(X ≥ u) ≤ 2.5 %, X binomial of n and the
// share: the largest such l and the least such u.
func ranks(n int64, share *big.Rat) (lo, hi int64, ok bool) {
	p, _ := share.Float64()
	below := 0.0 // P(X < k)
	lo, hi = 0, n+1
	for k := int64(0); k <= n; k++ {
		if below <= 0.025 {
			lo = k
		}
		if 1-below <= 0.025+1e-12 && k < hi {
			hi = k
		}
		below += binomial(n, k, p)
	}
	return lo, hi, lo >= 1 && hi <= n
}

// binomial is P(X = k).
func binomial(n, k int64, p float64) float64 {
	choose := logFactorial(n) - logFactorial(k) - logFactorial(n-k)
	return math.Exp(choose + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func logFactorial(n int64) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// percentiles returns the published percentiles.
func percentiles() []string {
	return strings.Fields("50 75 90 95 99 99.9 99.99 99.999 99.9999")
}
