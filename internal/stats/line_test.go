package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestFitLine(t *testing.T) {
	// By hand: means 3 and 4, sxx 10, sxy 6, residuals -1, 1, 0.6, -0.6 …
	l, ok := FitLine([]float64{1, 2, 3, 4, 5}, []float64{2, 4, 5, 4, 5})
	if !ok || math.Abs(l.Slope-0.6) > 1e-15 || math.Abs(l.Intercept-2.2) > 1e-14 ||
		math.Abs(l.SlopeError-math.Sqrt(2.4/3/10)) > 1e-15 || l.N != 5 {
		t.Errorf("%+v, %v", l, ok)
	}
	// t(0.975; 3) = 3.182446.
	lo, hi := l.SlopeInterval(0.95)
	if want := 3.182446 * l.SlopeError; math.Abs(hi-l.Slope-want) > 1e-6 || math.Abs(l.Slope-lo-want) > 1e-6 {
		t.Errorf("slope %v to %v, want ± %v", lo, hi, want)
	}
	// Exactly on a line, far from the origin.
	l, ok = FitLine([]float64{1.7e18, 1.7e18 + 1e9, 1.7e18 + 2e9}, []float64{1, 3, 5})
	if !ok || math.Abs(l.Slope-2e-9) > 1e-20 || l.SlopeError > 1e-15 {
		t.Errorf("far from the origin: %+v, %v", l, ok)
	}
}

func TestFitLineAgainstGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	inside := 0
	const trials = 1000
	for range trials {
		n := 3 + r.IntN(60)
		x, y := make([]float64, n), make([]float64, n)
		slope := r.NormFloat64()
		for i := range x {
			x[i] = float64(i)
			y[i] = 7 + slope*x[i] + r.NormFloat64()
		}
		l, ok := FitLine(x, y)
		a, b := stat.LinearRegression(x, y, nil, false)
		if !ok || math.Abs(l.Slope-b) > 1e-10 || math.Abs(l.Intercept-a) > 1e-9 {
			t.Fatalf("%+v, %v, want slope %v, intercept %v", l, ok, b, a)
		}
		if lo, hi := l.SlopeInterval(0.95); lo <= slope && slope <= hi {
			inside++
		}
	}
	if got := float64(inside) / trials; math.Abs(got-0.95) > 5*math.Sqrt(0.95*0.05/trials) {
		t.Errorf("the interval covers the slope in %v of samples, want 0.95", got)
	}
}

func TestFitLineRefuses(t *testing.T) {
	for name, tt := range map[string][2][]float64{
		"two points":     {{1, 2}, {1, 2}},
		"lengths differ": {{1, 2, 3}, {1, 2}},
		"one x":          {{2, 2, 2}, {1, 2, 3}},
		"not a number":   {{1, 2, 3}, {1, math.NaN(), 3}},
		"infinite":       {{1, 2, math.Inf(1)}, {1, 2, 3}},
	} {
		if l, ok := FitLine(tt[0], tt[1]); ok {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
