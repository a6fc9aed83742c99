package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy returns n values about e^level(i) with scatter sd, correlated from one
// to the next as a broker's figures are.
func noisy(seed uint64, n int, sd float64, level func(i int) float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 11))
	x := make([]float64, n)
	e := 0.0
	for i := range x {
		e = 0.3*e + math.Sqrt(1-0.09)*r.NormFloat64()
		x[i] = 1e6 * math.Exp(level(i)+sd*e)
	}
	return x
}

func step(at int, before, after float64) func(int) float64 {
	return func(i int) float64 {
		if i < at {
			return before
		}
		return after
	}
}

func TestSteadyStateClasses(t *testing.T) {
	const n = 200
	for _, tt := range []struct {
		name  string
		level func(int) float64
		want  Steadiness
		from  int // about
	}{
		{"flat", func(int) float64 { return 0 }, Flat, 0},
		{"warm-up in a step", step(30, 0.5, 0), WarmUp, 30},
		{"warm-up that decays", func(i int) float64 { return math.Exp(-float64(i) / 10) }, WarmUp, 30},
		{"drift upward", func(i int) float64 { return 0.8 * float64(i) / n }, Drift, n},
		{"drift downward", func(i int) float64 { return -0.8 * float64(i) / n }, Drift, n},
		{"shift to a higher level", step(80, 0, 0.4), LevelShift, 80},
		{"change near the end", step(170, 0, 0.4), NoSteadyState, n},
		{"back and forth", func(i int) float64 { return 0.5 * float64(i/40%2) }, NoSteadyState, n},
	} {
		wrong := 0
		const trials = 50
		for seed := range uint64(trials) {
			got := SteadyState(noisy(seed, n, 0.05, tt.level), 0.05)
			if got.Class != tt.want || math.Abs(float64(got.From-tt.from)) > 15 {
				if wrong++; wrong == 1 {
					t.Logf("%s: %+v, want %s from about %d", tt.name, got, tt.want, tt.from)
				}
			}
		}
		if wrong > trials/10 {
			t.Errorf("%s: %d of %d series are classed otherwise", tt.name, wrong, trials)
		}
	}
}

// What does not change must not be said to, at any scatter and length.
func TestSteadyStateFalseAlarms(t *testing.T) {
	for _, n := range []int{LeastSteady, 30, 60, 600, 5000} {
		for _, sd := range []float64{0, 0.01, 0.3} {
			wrong := 0
			const trials = 40
			for seed := range uint64(trials) {
				if got := SteadyState(noisy(100+seed, n, sd, func(int) float64 { return 0 }), 0.05); got.Class != Flat {
					wrong++
				}
			}
			if wrong > trials/20 {
				t.Errorf("%d values with scatter %v: %d of %d flat series are not classed flat", n, sd, wrong, trials)
			}
		}
	}
}

func TestSteadyStateOfLittle(t *testing.T) {
	if got := SteadyState(make([]float64, LeastSteady-1), 0.05); got.Class != NotAssessed {
		t.Errorf("%+v", got)
	}
	none := Steady{Class: Flat, Change: 1}
	for _, v := range []float64{0, math.NaN(), math.Inf(1), -1, 5e-324, math.MaxFloat64} {
		if got := SteadyState(slices.Repeat([]float64{v}, LeastSteady), 0.05); got != none {
			t.Errorf("%v all the time: %+v", v, got)
		}
	}
	gaps := noisy(1, 60, 0.02, func(int) float64 { return 0 })
	gaps[7], gaps[20], gaps[21] = 0, math.NaN(), math.Inf(1)
	if got := SteadyState(gaps, 0.05); got.Class != Flat {
		t.Errorf("with gaps: %+v", got)
	}
	clear(gaps[:20])
	if got := SteadyState(gaps, 0.05); got.Class != Flat {
		t.Errorf("without a beginning: %+v", got)
	}
}

// A stall of a few intervals is an event and no state, wherever it is but at the
// beginning.
func TestSteadyStateOfEvents(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to int // what stands out
		want     Steadiness
		outliers int
	}{
		{"one in the middle", 50, 51, Flat, 1},
		{"four", 30, 34, Flat, 4},
		{"the last", 99, 100, Flat, 1},
		{"five are a state that did not last", 50, 55, NoSteadyState, 0},
		{"at the beginning", 0, 3, WarmUp, 0},
	} {
		for _, sd := range []float64{0, 0.03} {
			x := noisy(5, 100, sd, func(int) float64 { return 0 })
			for i := tt.from; i < tt.to; i++ {
				x[i] *= 1000
			}
			if got := SteadyState(x, 0.05); got.Class != tt.want || got.Outliers != tt.outliers {
				t.Errorf("%s, scatter %v: %+v, want %s and %d outliers", tt.name, sd, got, tt.want, tt.outliers)
			}
		}
	}
}

// A step of less than matters is none, though a line through it rises by more.
func TestSteadyStateOfSmallSteps(t *testing.T) {
	for change, want := range map[float64]Steadiness{0.04: Flat, 0.06: LevelShift} {
		if got := SteadyState(noisy(6, 100, 0.005, step(50, 0, change)), 0.05); got.Class != want {
			t.Errorf("a step of %v: %+v, want %s", change, got, want)
		}
	}
}

// The split is the best one there is: brute force over all splits into at most
// three parts.
func TestChangePointsAreOptimal(t *testing.T) {
	for seed := range uint64(20) {
		x := noisy(seed, 40, 0.1, step(15, 0, 0.5))
		for i := range x {
			x[i] = math.Log(x[i])
		}
		const penalty, floor = 12, 1e-4
		cost := func(from, to int) float64 {
			m := mean(x[from:to])
			v := 0.0
			for _, y := range x[from:to] {
				v += (y - m) * (y - m)
			}
			k := float64(to - from)
			return k * (math.Log(max(v/k, floor*floor)) + 1)
		}
		least := cost(0, 40)
		for i := shortest; i <= 40-shortest; i++ {
			least = min(least, cost(0, i)+cost(i, 40)+penalty)
			for j := i + shortest; j <= 40-shortest; j++ {
				least = min(least, cost(0, i)+cost(i, j)+cost(j, 40)+2*penalty)
			}
		}
		parts := changePoints(x, penalty, floor)
		total := penalty * float64(len(parts)-1)
		for _, p := range parts {
			total += cost(p.from, p.to)
		}
		if total > least+1e-6 {
			t.Errorf("seed %d: %v in %d parts, by brute force %v", seed, total, len(parts), least)
		}
	}
}

// The split costs no more than that by optimal partitioning (Jackson and others,
// 2005), which tries all last changes at every place and prunes nothing, in
// series with any number of changes.
func TestChangePointsAgainstOptimalPartitioning(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for range 60 {
		n := 30 + r.IntN(170)
		x := make([]float64, n)
		level, scatter := 0.0, 0.1
		for i := range x {
			if r.IntN(25) == 0 {
				level, scatter = r.NormFloat64(), 0.02+0.3*r.Float64()
			}
			x[i] = level + scatter*r.NormFloat64()
		}
		penalty, floor := 2+20*r.Float64(), 1e-4
		cost := func(from, to int) float64 {
			m, v, k := mean(x[from:to]), 0.0, float64(to-from)
			for _, y := range x[from:to] {
				v += (y - m) * (y - m)
			}
			return k * (math.Log(max(v/k, floor*floor)) + 1)
		}
		best := make([]float64, n+1)
		best[0] = -penalty
		for to := 1; to <= n; to++ {
			best[to] = math.Inf(1)
			for from := 0; from <= to-shortest; from++ {
				best[to] = min(best[to], best[from]+cost(from, to)+penalty)
			}
		}
		parts := changePoints(x, penalty, floor)
		total, at := penalty*float64(len(parts)-1), 0
		for _, p := range parts {
			if p.from != at || p.to-p.from < shortest {
				t.Fatalf("parts %+v", parts)
			}
			total, at = total+cost(p.from, p.to), p.to
		}
		if at != n || math.Abs(total-best[n]) > 1e-6*math.Max(1, math.Abs(best[n])) {
			t.Errorf("%d values: %v in %d parts, the best has %v", n, total, len(parts), best[n])
		}
	}
}
