package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestProportionInterval(t *testing.T) {
	for _, tt := range []struct {
		k, n         int64
		conf, lo, hi float64
	}{
		// As R's binom.test prints them.
		{0, 10, 0.95, 0, 0.3084971}, {1, 10, 0.95, 0.002528579, 0.4450161}, {5, 10, 0.95, 0.1870860, 0.8129140},
		{10, 10, 0.95, 0.6915029, 1}, {10, 100, 0.95, 0.04900469, 0.1762226},
		// 1 - (alpha/2)^(1/n) and its mirror image.
		{0, 3688, 0.95, 0, -math.Expm1(math.Log(0.025) / 3688)},
		{1, 1, 0.95, 0.025, 1},
	} {
		lo, hi, ok := ProportionInterval(tt.k, tt.n, tt.conf)
		if !ok || math.Abs(lo-tt.lo) > 1e-6*tt.lo || math.Abs(hi-tt.hi) > 1e-6*tt.hi {
			t.Errorf("%d of %d: %.9f to %.9f, %v, want %.9f to %.9f", tt.k, tt.n, lo, hi, ok, tt.lo, tt.hi)
		}
	}
	for _, tt := range []struct {
		k, n int64
		conf float64
	}{{0, 0, 0.95}, {-1, 5, 0.95}, {6, 5, 0.95}, {1, 5, 0}, {1, 5, 1}, {1, 5, math.NaN()}} {
		if _, _, ok := ProportionInterval(tt.k, tt.n, tt.conf); ok {
			t.Errorf("%d of %d at %v has an interval", tt.k, tt.n, tt.conf)
		}
	}
}

func TestProportionIntervalSolvesItsEquations(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 150 {
		n := int64(math.Exp(r.Float64()*math.Log(1e9))) + 1
		k := min(int64(math.Exp(r.Float64()*math.Log(float64(n)))), n)
		if r.IntN(2) == 0 {
			k = n - k
		}
		conf := []float64{0.9, 0.95, 0.99}[r.IntN(3)]
		alpha := (1 - conf) / 2
		lo, hi, ok := ProportionInterval(k, n, conf)
		share := float64(k) / float64(n)
		if !ok || lo > share || hi < share {
			t.Fatalf("%d of %d: %v to %v, %v", k, n, lo, hi, ok)
		}
		// The slack covers that a probability near 1 has few digits below it.
		slack := alpha * 1e-5
		if k > 0 {
			if got := (binomial{n, lo, 1 - lo}).above(k); math.Abs(got-alpha) > slack {
				t.Errorf("%d of %d: at the lower end %v P(X ≥ k) is %v, want %v", k, n, lo, got, alpha)
			}
		}
		if k < n {
			if got := (binomial{n, hi, 1 - hi}).below(k); math.Abs(got-alpha) > slack {
				t.Errorf("%d of %d: at the upper end %v P(X ≤ k) is %v, want %v", k, n, hi, got, alpha)
			}
		}
		mlo, mhi, _ := ProportionInterval(n-k, n, conf)
		if math.Abs(mlo-(1-hi)) > 1e-12 || math.Abs(mhi-(1-lo)) > 1e-12 {
			t.Errorf("%d of %d: %v to %v, but of the failures %v to %v", k, n, lo, hi, mlo, mhi)
		}
	}
}
