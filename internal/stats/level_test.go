package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestChangesAreFound finds one step, two steps and none, whatever the distribution.
func TestChangesAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	series := func(levels ...float64) []float64 {
		var x []float64
		for _, l := range levels {
			for range 12 {
				x = append(x, l*math.Exp(0.02*rng.NormFloat64()))
			}
		}
		return x
	}
	for _, c := range []struct {
		name   string
		series []float64
		at     []int
		ratio  []float64
	}{
		{"a step", series(100, 112), []int{12}, []float64{1.12}},
		{"up and back", series(100, 130, 100), []int{12, 24}, []float64{1.3, 1 / 1.3}},
		{"one outlier", func() []float64 { x := series(100, 100); x[9] = 1000; return x }(), nil, nil},
		{"all alike", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, nil, nil},
		{"too few", []float64{1, 2, 3, 4, 5}, nil, nil},
		{"nothing", nil, nil, nil},
	} {
		found := Changes(c.series, 0.01, 0.95)
		if len(found) != len(c.at) {
			t.Errorf("%s: %+v, want changes at %v", c.name, found, c.at)
			continue
		}
		for i, f := range found {
			if d := f.At - c.at[i]; d < -1 || d > 1 {
				t.Errorf("%s: a change at %d, want %d", c.name, f.At, c.at[i])
			}
			if f.Lo > c.ratio[i] || f.Hi < c.ratio[i] || f.Ratio < f.Lo || f.Ratio > f.Hi || f.Hi/f.Lo > 1.08 {
				t.Errorf("%s: %.3f [%.3f, %.3f], want about %.3f", c.name, f.Ratio, f.Lo, f.Hi, c.ratio[i])
			}
		}
	}
}

// TestChangesKeepTheirLevel counts the series without a change in which one is found, with
// heavy tails and ties: at most as many as alpha allows.
func TestChangesKeepTheirLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const series, alpha = 300, 0.05
	found := 0
	for i := range series {
		x := make([]float64, 8+i%25)
		for j := range x {
			x[j] = math.Ceil(10 * math.Exp(rng.ExpFloat64()))
		}
		if len(Changes(x, alpha, 0.95)) > 0 {
			found++
		}
	}
	// 15 are expected at most; 29 or more have a probability of 1 in 2,000.
	if found > 28 {
		t.Errorf("%d of %d series without a change have one, at a level of %g", found, series, alpha)
	}
}

// TestLeastChanges: as many values can show a change, one less cannot.
func TestLeastChanges(t *testing.T) {
	for _, alpha := range []float64{0.05, 0.025, 0.05 / 3, 0.0125, 0.01} {
		n := LeastChanges(alpha)
		step := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = 1 + float64(i)/1000
				if i >= n/2 {
					x[i] += 10
				}
			}
			return x
		}
		if len(Changes(step(n-1), alpha, 0.95)) > 0 {
			t.Errorf("%g: %d values show a change, so %d are not the least", alpha, n-1, n)
		}
		for _, n := range []int{n, n + 1} {
			if len(Changes(step(n), alpha, 0.95)) == 0 {
				t.Errorf("%g: %d values cannot show a change", alpha, n)
			}
		}
	}
}

// TestChangesWithoutNumber: values beyond every number rank above all others, and are alike.
func TestChangesWithoutNumber(t *testing.T) {
	x := make([]float64, 20)
	for i := range x {
		x[i] = 100 + float64(i%5)
		if i >= 12 {
			x[i] = math.Inf(1)
		}
	}
	found := Changes(x, 0.025, 0.95)
	if len(found) != 1 || found[0].At != 12 || !math.IsInf(found[0].Ratio, 1) || !math.IsInf(found[0].Lo, 1) {
		t.Errorf("to beyond every number: %+v", found)
	}
	for i := range x {
		x[i] = math.Inf(1)
	}
	if found := Changes(x, 0.025, 0.95); len(found) != 0 {
		t.Errorf("all beyond every number: %+v", found)
	}
}

// TestRankSums compares counted rank sums with published critical values of the Mann-Whitney
// statistic (two-sided 0.05: reject at or below).
func TestRankSums(t *testing.T) {
	for _, c := range []struct{ n, m, want int }{{3, 5, 0}, {4, 4, 0}, {5, 5, 2}, {8, 8, 13}, {10, 12, 29}, {20, 20, 127}, {3, 3, -1}} {
		if got := rankSumBelow(c.n, c.m, 0.025); got != c.want {
			t.Errorf("n = %d, m = %d: %d, want %d", c.n, c.m, got, c.want)
		}
	}
	exact, approximate := rankSumBelow(20, 100, 0.025), rankSumBelow(20, 101, 0.025)
	if d := approximate - exact; d < 0 || d > 20 {
		t.Errorf("the approximation continues %d with %d", exact, approximate)
	}
}
