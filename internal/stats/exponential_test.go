package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFitExponential(t *testing.T) {
	// Of one value at the median: -1 - (ln ½ + ln ½), and half.
	fit, ok := FitExponential([]float64{math.Ln2}, 1, 0)
	if want := 2*math.Ln2 - 1; !ok || math.Abs(fit.A2-want) > 1e-15 || math.Abs(fit.Distance-0.5) > 1e-15 || fit.N != 1 {
		t.Errorf("one value: %+v, %v, want A² %v", fit, ok, want)
	}
	// At the quartiles, by hand: z = ¼, ½, ¾.
	x := []float64{math.Ln2 * 2 * 5, math.Log(4.0/3) * 5, math.Ln2 * 5}
	before := slices.Clone(x)
	fit, ok = FitExponential(x, 5, 0)
	sum := math.Log(0.25) + 5*math.Log(0.75) + 3*math.Log(0.5) + 3*math.Log(0.5) + 5*math.Log(0.75) + math.Log(0.25)
	if want := -3 - sum/3; !ok || math.Abs(fit.A2-want) > 1e-14 || math.Abs(fit.Distance-0.25) > 1e-15 {
		t.Errorf("quartiles: %+v, %v, want A² %v, distance 0.25", fit, ok, want)
	}
	if !slices.Equal(x, before) {
		t.Error("the gaps were sorted in place")
	}
}

func TestFitExponentialRejectsAtItsLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const trials, n, mean = 2000, 200, 333.0
	five, one := 0, 0
	gaps := make([]float64, n)
	for range trials {
		for i := range gaps {
			gaps[i] = math.Floor(r.ExpFloat64()*mean + r.Float64()) // a clock of whole units
		}
		fit, ok := FitExponential(gaps, mean, 1)
		if !ok || math.IsInf(fit.A2, 0) {
			t.Fatalf("%+v, %v", fit, ok)
		}
		if fit.A2 > AndersonDarling5 {
			five++
		}
		if fit.A2 > AndersonDarling1 {
			one++
		}
	}
	for _, tt := range []struct {
		rejected int
		level    float64
	}{{five, 0.05}, {one, 0.01}} {
		got := float64(tt.rejected) / trials
		if math.Abs(got-tt.level) > 5*math.Sqrt(tt.level*(1-tt.level)/trials) {
			t.Errorf("rejected %v of exponential samples at the level %v", got, tt.level)
		}
	}
}

func TestFitExponentialSeesConstantGaps(t *testing.T) {
	gaps := make([]float64, 300)
	for i := range gaps {
		gaps[i] = 100
	}
	fit, ok := FitExponential(gaps, 100, 1)
	if !ok || fit.A2 < 50 || math.Abs(fit.Distance-(1-1/math.E)) > 1e-12 {
		t.Errorf("constant gaps: %+v, %v", fit, ok)
	}
}

func TestFitExponentialRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		gaps             []float64
		mean, resolution float64
	}{
		"none":                {nil, 1, 0},
		"negative":            {[]float64{1, -1}, 1, 0},
		"not a number":        {[]float64{1, math.NaN()}, 1, 0},
		"infinite":            {[]float64{1, math.Inf(1)}, 1, 0},
		"no mean":             {[]float64{1}, 0, 0},
		"negative mean":       {[]float64{1}, -1, 0},
		"negative resolution": {[]float64{1}, 1, -1},
	} {
		if fit, ok := FitExponential(tt.gaps, tt.mean, tt.resolution); ok {
			t.Errorf("%s: %+v", name, fit)
		}
	}
}

// In the limit A² is Σ χ²₁/(j(j+1)) (Anderson and Darling, 1952). Its tail is
// computed here from that, by Imhof's inversion (Biometrika 48, 1961), and held
// against the critical values.
func TestAndersonDarlingAgainstItsLimit(t *testing.T) {
	const terms = 300
	beyond := func(x float64) float64 {
		x -= 1.0 / (terms + 1) // the mean of the terms left out, whose variance is 1e-8
		sum, step := 0.0, 0.02
		for u := step / 2; u < 150; u += step {
			angle, size := -x*u/2, 0.0
			for j := 1; j <= terms; j++ {
				l := u / float64(j*(j+1))
				angle += math.Atan(l) / 2
				size += math.Log1p(l*l) / 4
			}
			sum += math.Sin(angle) / (u * math.Exp(size)) * step
		}
		return 0.5 + sum/math.Pi
	}
	for _, tt := range []struct{ at, want, digits float64 }{
		{1.933, 0.10, 2e-4}, {3.070, 0.025, 3e-4}, // Stephens 1974
		{AndersonDarling5, 0.05, 2e-4}, {AndersonDarling1, 0.01, 3e-4},
	} {
		got := beyond(tt.at)
		t.Logf("P(A² > %v) = %.6f", tt.at, got)
		if math.Abs(got-tt.want) > tt.digits {
			t.Errorf("P(A² > %v) is %.5f, want %v", tt.at, got, tt.want)
		}
	}
}
