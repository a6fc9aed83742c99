package sweep

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sixnines/internal/hunttest"
	"sixnines/internal/stats"
)

// curve is the latency at a rate; +Inf: the rate is unstable.
type curve func(rate float64) float64

// quantile is the curve of a quantile of the time in a queue.
func (s sojourn) quantile(p float64) curve {
	return func(rate float64) float64 {
		if rate >= served {
			return math.Inf(1)
		}
		return s(rate/served, p) / served
	}
}

func mm1Curve(p float64) curve { return sojourn(stats.MM1Sojourn).quantile(p) }

// md1Mean is by Pollaczek and Khinchine.
func md1Mean(rate float64) float64 {
	rho := rate / served
	if rho >= 1 {
		return math.Inf(1)
	}
	return (1 + rho/(2*(1-rho))) / served
}

// peak is where the power of a curve is highest.
func (c curve) peak() float64 {
	best := 0.0
	for rate := 1.0; rate < served; rate++ {
		if best == 0 || rate/c(rate) > best/c(best) {
			best = rate
		}
	}
	return best
}

func rates(t *testing.T, text string) []float64 {
	x, ok := axis(t, "rate="+text).Numbers()
	if !ok {
		t.Fatal(text)
	}
	return x
}

// sampled is a curve at some rates, with a relative error.
func (c curve) sampled(rates []float64, rounds int, noise float64, seed uint64) [][]Point {
	rng := rand.New(rand.NewPCG(seed, 4))
	all := make([][]Point, rounds)
	for i := range all {
		for _, rate := range rates {
			p := Point{Rate: rate, Latency: c(rate) * math.Exp(noise*rng.NormFloat64())}
			p.Unstable = math.IsInf(p.Latency, 0)
			all[i] = append(all[i], p)
		}
	}
	return all
}

func TestKneeOfTheory(t *testing.T) {
	if p := curve(md1Mean).peak(); math.Abs(p-1000*(2-math.Sqrt2)) > 1 {
		t.Fatalf("M/D/1: %g", p)
	}
	for name, c := range map[string]curve{"M/M/1 mean": mm1Curve(1 - 1/math.E), "M/M/1 p99": mm1Curve(0.99), "M/D/1 mean": md1Mean, "M/D/1 p99": sojourn(stats.MD1Sojourn).quantile(0.99),
		"M/M/1 behind a network": func(rate float64) float64 { return 0.002 + mm1Curve(0.99)(rate) }} {
		truth := c.peak()
		for _, grid := range []string{"100/s..1200/s:lin:12", "50/s..1600/s:log:13", "10/s..990/s:lin:40", "100/s..900/s:lin:5"} {
			k := findKnee(c.sampled(rates(t, grid), 1, 0, 1), 0.95)
			if !k.Told || math.Abs(k.Rate.Value/truth-1) > 0.05 || k.Rate.Bounded {
				t.Errorf("%s over %s: %s; theory has %.0f", name, grid, k.Text, truth)
			}
		}
	}
}

// Five rounds with an error of 5 % each: the interval covers as it says, and the
// knee is within 5 % as a rule.
func TestKneeIntervalCovers(t *testing.T) {
	series := hunttest.Cases(t, 60, 200)
	c := mm1Curve(0.99)
	held, near := 0, 0
	for seed := range uint64(series) {
		k := findKnee(c.sampled(rates(t, "100/s..1200/s:lin:12"), 5, 0.05, seed), 0.95)
		if k.Told && k.Rate.Bounded && k.Rate.Low <= 500 && 500 <= k.Rate.High {
			held++
		}
		if math.Abs(k.Rate.Value/500-1) <= 0.05 {
			near++
		}
	}
	if held < series*90/100 || near < series*95/100 {
		t.Errorf("of %d intervals %d hold the knee; %d are within 5 %%", series, held, near)
	}
}

func TestKneeThatCannotBeTold(t *testing.T) {
	c := mm1Curve(0.99)
	for _, tt := range []struct {
		name, grid, want string
		between          [2]float64
	}{
		{"not reached", "10/s..300/s:lin:6", "it lies at or above 242/s: rate ÷ latency still grows up to 300/s, the highest rate with a figure", [2]float64{242, math.Inf(1)}},
		{"passed", "600/s..900/s:lin:7", "it lies at or below 650/s", [2]float64{0, 650}},
		{"few", "100/s..900/s:lin:3", "3 rates were stable, and it needs 4", [2]float64{100, 900}},
		{"none", "1100/s..1200/s:lin:3", "no rate was stable", [2]float64{0, 1100}},
	} {
		k := findKnee(c.sampled(rates(t, tt.grid), 3, 0, 1), 0.95)
		if k.Told || !strings.Contains(k.Text, tt.want) || k.Between != tt.between {
			t.Errorf("%s: %+v", tt.name, k)
		}
	}
	if k := findKnee(nil, 0.95); k.Told || !strings.Contains(k.Text, "is not known") {
		t.Errorf("of nothing: %+v", k)
	}
}

// A rate at which half of the trials are unstable is beyond the knee, and so is every rate above
// it, whatever its trials show.
func TestUnstableIsBeyondTheKnee(t *testing.T) {
	rounds := mm1Curve(0.99).sampled(rates(t, "100/s..1200/s:lin:12"), 4, 0, 1)
	for i := range rounds {
		for k := range rounds[i] {
			p := &rounds[i][k]
			if p.Rate == 600 && i < 2 {
				p.Unstable = true
			}
			if p.Rate > 600 { // as if it were idle
				p.Unstable, p.Latency = false, 1e-6
			}
		}
	}
	if k := findKnee(rounds, 0.95); !k.Told || math.Abs(k.Rate.Value/500-1) > 0.05 || k.Between[1] != 600 {
		t.Errorf("%+v", k)
	}
}
