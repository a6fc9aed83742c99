package schedule

import (
	"math"
	"math/big"
	"time"

	"sixnines/scenario"
)

// ramp is a rate that changes linearly from a to b over the window:
//
//	Λ(t) = a·t + (b−a)·t²/(2W)
//
// The root of Λ(t) = n is found in floating point and then made exact: with
// a = ma/pa and b = mb/pb, Λ(t) ≤ n is the integer inequality
//
//	t·(k1 + k2·t) ≤ k3·n,   k1 = 2·W·pb·ma,  k2 = mb·pa − ma·pb,  k3 = 2·W·pa·pb
//
// whose sides stay below 2¹⁸⁸ within the limits of a plan (rates of at most
// 10⁷/s given over at most 24 h, windows of at most 7 days).
type ramp struct {
	k1, k2, k3 wide
	falling    bool // k2 is to be subtracted
	a, b       float64
	window     float64
	total      int64
}

func newRamp(from, to scenario.Rate, window time.Duration) (*ramp, *big.Rat) {
	a, b := ratio(from), ratio(to)
	twice := big.NewInt(2 * int64(window))
	product := func(xs ...*big.Int) *big.Int {
		p := big.NewInt(1)
		for _, x := range xs {
			p.Mul(p, x)
		}
		return p
	}
	k1 := product(twice, b.Denom(), a.Num())
	k2 := new(big.Int).Sub(product(b.Num(), a.Denom()), product(a.Num(), b.Denom()))
	k3 := product(twice, a.Denom(), b.Denom())
	r := &ramp{falling: k2.Sign() < 0, window: float64(window)}
	r.k1, r.k2, r.k3 = wideOf(k1), wideOf(k2.Abs(k2)), wideOf(k3)
	r.a, _ = a.Float64()
	r.b, _ = b.Float64()
	lambda := new(big.Rat).Add(a, b)
	lambda.Mul(lambda, new(big.Rat).SetFrac64(int64(window), 2))
	r.total = ceil(lambda)
	return r, lambda
}

// reached reports Λ(t) ≤ n for 0 ≤ t ≤ W+1.
func (r *ramp) reached(t int64, n wide) bool {
	slope := r.k2.mul(uint64(t))
	if r.falling {
		slope = r.k1.sub(slope)
	} else {
		slope = r.k1.add(slope)
	}
	return slope.mul(uint64(t)).atMost(n)
}

// at returns t_n for 0 ≤ n < total.
func (r *ramp) at(n int64) int64 {
	rhs := r.k3.mul(uint64(n))
	t := r.inverse(n, 0)
	t = min(t, int64(r.window))
	if r.reached(t, rhs) {
		if !r.reached(t+1, rhs) {
			return t
		}
	} else if t > 0 && r.reached(t-1, rhs) {
		return t - 1
	}
	// A ramp down to almost nothing is so flat at its end that floating point
	// is off by more than one nanosecond there: bracket the root around the
	// guess, then halve.
	low, high := t, t
	for step := int64(1); low > 0 && !r.reached(low, rhs); step *= 4 {
		low = max(0, low-step)
	}
	for step := int64(1); r.reached(high, rhs); step *= 4 {
		high += step
		if high > int64(r.window) {
			high = int64(r.window) + 1
			break
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; r.reached(mid, rhs) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// inverse returns Λ⁻¹(whole+part) rounded down, to the precision of floating
// point.
func (r *ramp) inverse(whole int64, part float64) int64 {
	n := float64(whole) + part
	under := float64(r.a*r.a) + float64(float64(2*(r.b-r.a))*n)/r.window
	if under < 0 {
		return int64(r.window)
	}
	return nanoseconds(float64(2*n) / (r.a + math.Sqrt(under)))
}
