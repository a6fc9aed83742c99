package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// M_n is a martingale: its mean over the next value is itself. That is what makes
// the ranks hold for all n at once.
func TestBetaMixtureIsAMartingale(t *testing.T) {
	for _, p := range []float64{0.001, 0.5, 0.9, 0.99, 0.999999} {
		m := newBetaMixture(p)
		if got := m.log(0, 0); math.Abs(got) > 1e-6 {
			t.Errorf("p%g begins at e^%g", 100*p, got)
		}
		for _, n := range []int64{1, 7, 1000, 1e6, 1e9, 1e12} {
			for _, off := range []float64{-3, -1, 0, 1, 3} {
				s := int64(float64(n)*p + off*math.Sqrt(float64(n)*p*(1-p)))
				if s < 0 || s > n {
					continue
				}
				next := p*math.Exp(m.log(n+1, s+1)-m.log(n, s)) + (1-p)*math.Exp(m.log(n+1, s)-m.log(n, s))
				if math.Abs(next-1) > 1e-5 {
					t.Errorf("p%g, %d of %d: %v times as much after the next value", 100*p, s, n, next)
				}
			}
		}
	}
}

// The logarithm is that of its definition, computed with 200 digits.
func TestBetaMixtureByDefinition(t *testing.T) {
	// p = 1/2: a = b = 40, so that M_n = (40…(39+s))·(40…(39+n−s))·2ⁿ / (80…(79+n)).
	m := newBetaMixture(0.5)
	for _, tt := range [][2]int64{{1, 0}, {10, 3}, {100, 80}, {400, 180}} {
		n, s := tt[0], tt[1]
		v := new(big.Float).SetPrec(700).SetInt64(1)
		times := func(from, count int64) {
			for i := range count {
				v.Mul(v, new(big.Float).SetInt64(from+i))
			}
		}
		times(40, s)
		times(40, n-s)
		for i := range n {
			v.Mul(v, big.NewFloat(2))
			v.Quo(v, new(big.Float).SetInt64(80+i))
		}
		want, _ := v.Float64()
		if got := math.Exp(m.log(n, s)); math.Abs(got/want-1) > 1e-7 {
			t.Errorf("%d of %d: %v, want %v", s, n, got, want)
		}
	}
}

func TestSequentialRanks(t *testing.T) {
	for _, p := range []float64{0.5, 0.9, 0.99, 0.999} {
		for _, n := range []int64{500, 5_000, 50_000, 5e6, 5e9} {
			lo, hi, ok := SequentialRanks(n, p, 0.95)
			if ok != (n >= MinSequential(p, 0.95)) {
				t.Errorf("p%g of %d: %v, and the least is %d", 100*p, n, ok, MinSequential(p, 0.95))
			}
			if !ok {
				continue
			}
			if lo < 1 || hi > n || float64(lo) > p*float64(n) || float64(hi) < p*float64(n) {
				t.Errorf("p%g of %d: ranks %d to %d", 100*p, n, lo, hi)
			}
			// To look at any time costs width, but not without limit.
			l, u, _ := QuantileRanks(n, p, 0.95)
			if ratio := float64(hi-lo) / float64(u-l); ratio < 1.3 || ratio > 2.5 {
				t.Errorf("p%g of %d: %.2f times as wide as for one n", 100*p, n, ratio)
			}
			// The more error is allowed, the narrower.
			if l, u, ok := SequentialRanks(n, p, 0.8); !ok || l < lo || u > hi || u-l >= hi-lo {
				t.Errorf("p%g of %d: %d to %d at 80 %%, %d to %d at 95 %%", 100*p, n, l, u, lo, hi)
			}
			// Seen from the other end it is the same.
			if l, u, _ := SequentialRanks(n, 1-p, 0.95); max(l-(n+1-hi), (n+1-hi)-l, u-(n+1-lo), (n+1-lo)-u) > 1 {
				t.Errorf("p%g of %d: %d to %d, mirrored %d to %d", 100*p, n, lo, hi, l, u)
			}
		}
	}
	for _, bad := range []float64{0, 1, math.NaN(), -1} {
		if _, _, ok := SequentialRanks(1e6, bad, 0.95); ok || MinSequential(bad, 0.95) != math.MaxInt64 {
			t.Errorf("a quantile %v", bad)
		}
		if _, _, ok := SequentialRanks(1e6, 0.5, bad); ok {
			t.Errorf("a confidence of %v", bad)
		}
	}
}

// The width goes to nothing as the run goes on, in ranks relative to n.
func TestSequentialRanksShrink(t *testing.T) {
	last := math.Inf(1)
	for n := int64(2000); n < 1e9; n += n / 10 {
		lo, hi, ok := SequentialRanks(n, 0.99, 0.95)
		width := float64(hi-lo) / float64(n)
		if !ok || width >= last {
			t.Fatalf("of %d values %d to %d", n, lo, hi)
		}
		last = width
	}
}

// All n at once: in 95 % of series of independent values the quantile is in the
// interval at every look, so that what lies in all of them is never nothing; the
// interval for one n loses it sooner or later in most series.
func TestSequentialRanksCoverAlways(t *testing.T) {
	const series, longest, p = 400, 60_000, 0.9
	rng := rand.New(rand.NewPCG(9, 1))
	always, naively := 0, 0
	for range series {
		below, n := int64(0), int64(0)
		sequential, fixed := true, true
		for look := int64(400); look <= longest; look += max(1, look/50) {
			for ; n < look; n++ {
				if rng.Float64() < p {
					below++
				}
			}
			// x_(lo) ≤ quantile ≤ x_(hi): at least lo at or below it, fewer than hi.
			if lo, hi, ok := SequentialRanks(n, p, 0.95); !ok || below < lo || below >= hi {
				sequential = false
			}
			if lo, hi, ok := QuantileRanks(n, p, 0.95); !ok || below < lo || below >= hi {
				fixed = false
			}
		}
		if sequential {
			always++
		}
		if fixed {
			naively++
		}
	}
	t.Logf("at every look: %.3f of the series, by the interval for one n %.3f", float64(always)/series, float64(naively)/series)
	if always < series*93/100 {
		t.Errorf("%d of %d series were covered at every look", always, series)
	}
	if naively > series*80/100 {
		t.Errorf("the interval for one n covered %d of %d series at every look: this proves nothing", naively, series)
	}
}
