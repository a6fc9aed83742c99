package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// One quantile and no shift is the sign-flip test of Fisher, which can be done
// by hand: with all six differences positive only two of 64 assignments are as
// extreme.
func TestShiftOfOneQuantileByHand(t *testing.T) {
	a := [][]float64{{1}, {1}, {1}, {1}, {1}, {1}}
	b := [][]float64{{1.1}, {1.2}, {1.3}, {1.15}, {1.25}, {1.05}}
	s, err := ShiftFunction(a, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if s.P != 2.0/64 || s.Points[0].P != s.P || !s.Exact || s.Pairs != 6 {
		t.Errorf("%+v", s)
	}
	if p := s.Points[0]; !p.Bounded || p.Lo <= 1 || p.Lo > p.Ratio || p.Hi < p.Ratio {
		t.Errorf("%+v: an interval that leaves out 1 is wanted", p)
	}
	// The smallest difference on the other side: 2·(1 + 1) assignments.
	b[5][0] = 1 / 1.05
	if s, err = ShiftFunction(a, b, 0.95); err != nil || s.P != 4.0/64 {
		t.Errorf("p is %v, %v, want 4/64", s.P, err)
	}
	if p := s.Points[0]; p.Lo > 1 {
		t.Errorf("%+v: p above 5 %% and an interval without 1", p)
	}
}

// Brute force over all 2ⁿ assignments, with Student's t instead of u.
func TestShiftAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		const pairs, quantiles = 7, 4
		a, b := pairsOf(r, pairs, quantiles, 0.3)
		s, err := ShiftFunction(a, b, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		student := func(signs, k int) float64 {
			var sum, sq float64
			for i := range pairs {
				d := math.Log(b[i][k] / a[i][k])
				if signs>>i&1 == 1 {
					d = -d
				}
				sum += d
				sq += d * d
			}
			m := sum / pairs
			return math.Abs(m) / math.Sqrt((sq/pairs-m*m)/(pairs-1))
		}
		for k := range quantiles {
			n := 0
			for signs := range 1 << pairs {
				largest := 0.0
				for j := range quantiles {
					largest = max(largest, student(signs, j))
				}
				if largest >= student(0, k)*(1-1e-9) {
					n++
				}
			}
			if want := float64(n) / (1 << pairs); math.Abs(s.Points[k].P-want) > 1e-12 {
				t.Errorf("quantile %d: p is %v, by brute force %v", k, s.Points[k].P, want)
			}
		}
	}
}

// pairsOf draws pairs of runs whose quantiles move together, as those of one
// distribution do, and whose noise is anything but normal; b is larger by the
// factor e^shift.
func pairsOf(r *rand.Rand, pairs, quantiles int, shift float64) (a, b [][]float64) {
	run := func(pair, shift float64) []float64 {
		q := make([]float64, quantiles)
		common := 0.1 * r.ExpFloat64()
		for k := range q {
			q[k] = math.Exp(pair + float64(k) + common*float64(k+1) + 0.05*r.NormFloat64() + shift)
		}
		return q
	}
	for range pairs {
		pair := r.NormFloat64() // the machine's mood, which both runs of a pair share
		a, b = append(a, run(pair, 0)), append(b, run(pair, shift))
	}
	return a, b
}

// False alarms stay below, and intervals hold all quantiles at once as often as
// they say, both within what 1,000 trials can tell.
func TestShiftCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, pairs := range []int{6, 8, 10} {
		const trials, quantiles = 1000, 5
		const shift = 0.2
		alarms, misses := int64(0), int64(0)
		for range trials {
			s, err := shift95(pairsOf(r, pairs, quantiles, 0))
			if err != nil {
				t.Fatal(err)
			}
			if s.P <= 0.05 {
				alarms++
			}
			if s, err = shift95(pairsOf(r, pairs, quantiles, shift)); err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Points {
				if p.Lo > math.Exp(shift) || p.Hi < math.Exp(shift) {
					misses++
					break
				}
			}
		}
		for what, n := range map[string]int64{"false alarms": alarms, "intervals that miss": misses} {
			lo, _, _ := ProportionInterval(n, trials, 0.99)
			t.Logf("%d pairs: %d of %d %s", pairs, n, trials, what)
			if lo > 0.05 {
				t.Errorf("%d pairs: %d of %d %s: more than 5 %%", pairs, n, trials, what)
			}
		}
	}
}

func shift95(a, b [][]float64) (Shift, error) { return ShiftFunction(a, b, 0.95) }

func TestShiftOfManyPairsIsSampled(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := pairsOf(r, 30, 3, 0.1)
	s, err := ShiftFunction(a, b, 0.95)
	if err != nil || s.Exact || s.P > 0.01 {
		t.Errorf("%+v, %v", s, err)
	}
	again, _ := ShiftFunction(a, b, 0.95)
	for k := range s.Points {
		if s.Points[k] != again.Points[k] {
			t.Errorf("quantile %d: %+v, then %+v", k, s.Points[k], again.Points[k])
		}
	}
}

// All pairs are flipped, however many: of what only the first 64 say, or only
// the others, each has its share.
func TestShiftOfMorePairsThanAWordHasBits(t *testing.T) {
	const n = 200
	var a, b [][]float64
	for i := range n {
		d := 1.1
		if i < 64 && i%2 == 0 || i >= 64 && i%4 == 0 { // half of the first, a quarter of the others
			d = 1 / d
		}
		a, b = append(a, []float64{1}), append(b, []float64{d})
	}
	// 134 of 200 against 66: 4.8 standard deviations of a coin.
	if s, err := ShiftFunction(a, b, 0.95); err != nil || s.P > 0.001 || s.Points[0].Lo <= 1 {
		t.Errorf("%+v, %v", s, err)
	}
	first := newFlipped(slices.Repeat([]float64{0}, n), signs(n))
	if first.weights[0] != n || slices.Max(first.weights[1:]) > n/2 {
		t.Errorf("weights up to %v of %d pairs", slices.Max(first.weights[1:]), n)
	}
}

func TestShiftOfTooFewPairsHasNoIntervals(t *testing.T) {
	a, b := pairsOf(rand.New(rand.NewPCG(7, 8)), 5, 2, 1)
	s, err := ShiftFunction(a, b, 0.95)
	if err != nil || s.Points[0].Bounded || s.Points[1].Bounded || s.P < 2.0/32 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestShiftOfEqualRuns(t *testing.T) {
	a := [][]float64{{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}, {5, 6}}
	s, err := ShiftFunction(a, a, 0.95)
	if err != nil || s.P != 1 || s.Points[0].Ratio != 1 || s.Points[0].Lo != 1 || s.Points[0].Hi != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestShiftRefuses(t *testing.T) {
	for name, tt := range map[string][2][][]float64{
		"no pairs":       {{{1}, {1}}, {{1}}},
		"one pair":       {{{1}}, {{1}}},
		"no quantiles":   {{{}, {}}, {{}, {}}},
		"ragged":         {{{1, 2}, {1}}, {{1, 2}, {1, 2}}},
		"zero":           {{{1}, {0}}, {{1}, {1}}},
		"not a number":   {{{1}, {math.NaN()}}, {{1}, {1}}},
		"infinite":       {{{1}, {math.Inf(1)}}, {{1}, {1}}},
		"all is missing": {nil, nil},
	} {
		if s, err := ShiftFunction(tt[0], tt[1], 0.95); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Where a quantile has half of six pairs on one value and half on another, as coarse
// buckets have it, no shift of the others is beyond what its signs give: there is no
// interval, rather than one from 0 to infinity.
func TestShiftBesideTies(t *testing.T) {
	var a, b [][]float64
	for i, d := range []float64{1.2, 1.21, 1.19, 1.22, 1.2, 1.18} {
		a, b = append(a, []float64{100, 1}), append(b, []float64{100 + float64(i%2), d})
	}
	s, err := shift95(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Points[0]; !p.Bounded || p.Lo > p.Ratio || p.Hi < p.Ratio || math.IsInf(p.Hi, 0) {
		t.Errorf("the one with ties: %+v", p)
	}
	if p := s.Points[1]; p.Bounded || p.Lo != 0 || p.Hi != 0 || p.P != 2.0/64 {
		t.Errorf("the other: %+v", p)
	}
}
