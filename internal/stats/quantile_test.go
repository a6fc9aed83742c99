package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bruteRanks finds the ranks by trying all, on exact sums.
func bruteRanks(n int64, p, conf float64) (lo, hi int64, ok bool) {
	tails := exactTails(n, p)
	alpha := (1 - conf) / 2
	for hi = 1; hi <= n && tails[hi] > alpha; hi++ {
	}
	for lo = n; lo >= 1 && 1-tails[lo] > alpha; lo-- { // P(X < lo)
	}
	return lo, hi, lo >= 1 && hi <= n
}

func TestQuantileRanksAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, p := range someQuantiles(r) {
		for _, conf := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
			for range 6 {
				n := r.Int64N(400) + 1
				lo, hi, ok := QuantileRanks(n, p, conf)
				wlo, whi, wok := bruteRanks(n, p, conf)
				if ok != wok || ok && (lo != wlo || hi != whi) {
					t.Fatalf("ranks of %v in %d at %v: %d, %d, %v, want %d, %d, %v", p, n, conf, lo, hi, ok, wlo, whi, wok)
				}
				if ok != (n >= MinSamples(p, conf)) {
					t.Fatalf("ranks of %v in %d at %v: %v, but MinSamples is %d", p, n, conf, ok, MinSamples(p, conf))
				}
			}
		}
	}
}

// TestQuantileRanksEvery checks every size up to 400 for the usual percentiles.
func TestQuantileRanksEvery(t *testing.T) {
	for _, p := range []float64{0.5, 0.9, 0.99} {
		for n := int64(1); n <= 400; n++ {
			lo, hi, ok := QuantileRanks(n, p, 0.95)
			wlo, whi, wok := bruteRanks(n, p, 0.95)
			if ok != wok || ok && (lo != wlo || hi != whi) {
				t.Fatalf("ranks of %v in %d: %d, %d, %v, want %d, %d, %v", p, n, lo, hi, ok, wlo, whi, wok)
			}
		}
	}
}

// TestQuantileRanksOfTheMedian holds against the table of the sign test at
// 95 %, printed in many textbooks (Conover, Practical Nonparametric Statistics;
// Gibbons, Nonparametric Statistical Inference).
func TestQuantileRanksOfTheMedian(t *testing.T) {
	for n, lower := range map[int64]int64{
		6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 13: 3, 14: 3, 15: 4, 16: 4, 17: 5, 18: 5, 19: 5, 20: 6,
		21: 6, 22: 6, 23: 7, 24: 7, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40,
	} {
		lo, hi, ok := QuantileRanks(n, 0.5, 0.95)
		if !ok || lo != lower || hi != n+1-lower {
			t.Errorf("median of %d: ranks %d and %d, %v, want %d and %d", n, lo, hi, ok, lower, n+1-lower)
		}
	}
	if _, _, ok := QuantileRanks(5, 0.5, 0.95); ok {
		t.Error("five values bound a median at 95 %")
	}
	// 1 - 2·(1+10)/1024.
	if got, want := rankCoverage(10, 0.5, 2, 9), 1-22.0/1024; math.Abs(got-want) > 1e-14 {
		t.Errorf("coverage %v, want %v", got, want)
	}
}

// TestQuantileRanksAtAnySize checks what defines the ranks where they cannot be
// had by trying all: both tails within bounds, and not one rank tighter.
func TestQuantileRanksAtAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	check := func(n int64, p, conf float64) {
		t.Helper()
		lo, hi, ok := QuantileRanks(n, p, conf)
		if !ok {
			if n >= MinSamples(p, conf) {
				t.Errorf("%d values are enough for %v at %v, but there are no ranks", n, p, conf)
			}
			return
		}
		b := binomial{n, p, 1 - p}
		alpha := (1 - conf) / 2
		slack := 1e-9 * alpha // of the comparison, not of the ranks
		if lo < 1 || hi > n || lo >= hi ||
			b.above(hi) > alpha+slack || b.above(hi-1) < alpha-slack ||
			b.below(lo-1) > alpha+slack || b.below(lo) < alpha-slack {
			t.Errorf("ranks of %v in %d at %v: %d and %d leave %v below and %v above, one tighter %v and %v",
				p, n, conf, lo, hi, b.below(lo-1), b.above(hi), b.below(lo), b.above(hi-1))
		}
		if c := rankCoverage(n, p, lo, hi); c < conf-slack {
			t.Errorf("ranks of %v in %d at %v: coverage %v", p, n, conf, c)
		}
	}
	for range 300 {
		n := int64(math.Exp(r.Float64() * math.Log(1e9)))
		p := 1 - math.Exp(-r.Float64()*16)
		if r.IntN(4) == 0 {
			p = 1 - p
		}
		check(n, p, []float64{0.5, 0.9, 0.95, 0.99, 0.999999}[r.IntN(5)])
	}
	for _, p := range []float64{0.5, 0.99, 0.999, 0.9999, 0.999999, 0.999999999} {
		check(1e12, p, 0.95)
	}
}

// TestQuantileRanksCover draws samples and counts.
func TestQuantileRanksCover(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n, p, conf, trials = 500, 0.99, 0.95, 2000
	lo, hi, ok := QuantileRanks(n, p, conf)
	if !ok {
		t.Fatal("no ranks")
	}
	covered := 0
	for range trials {
		below := int64(0) // of n uniform values, those below p
		for range n {
			if r.Float64() < p {
				below++
			}
		}
		if below >= lo && below < hi {
			covered++
		}
	}
	want := rankCoverage(n, p, lo, hi)
	got := float64(covered) / trials
	if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/trials) {
		t.Errorf("covered %v, want %v", got, want)
	}
}

func TestMinSamples(t *testing.T) {
	for _, tt := range []struct {
		p, conf float64
		want    int64
	}{
		{0.5, 0.95, 6}, {0.9, 0.95, 36}, {0.99, 0.95, 368}, {0.999, 0.95, 3688}, {0.9999, 0.95, 36887},
		{0.99999, 0.95, 368887}, {0.999999, 0.95, 3688878}, {0.01, 0.95, 368}, {0.99, 0.99, 528},
		{0, 0.95, math.MaxInt64}, {1, 0.95, math.MaxInt64}, {math.NaN(), 0.95, math.MaxInt64},
		{0.5, 0, math.MaxInt64}, {0.5, 1, math.MaxInt64}, {0.5, math.NaN(), math.MaxInt64},
	} {
		if got := MinSamples(tt.p, tt.conf); got != tt.want {
			t.Errorf("MinSamples(%v, %v) is %d, want %d", tt.p, tt.conf, got, tt.want)
		}
	}
}

func TestRank(t *testing.T) {
	for _, tt := range []struct {
		n       int64
		percent float64
		want    int64
	}{
		{0, 50, 0}, {-3, 50, 0}, {1, 50, 1}, {1, 0, 1}, {7, 60, 5}, {10, 100, 10}, {10, 101, 10}, {10, -1, 1},
		{10, math.NaN(), 10}, {10, math.Inf(1), 10}, {10, math.Inf(-1), 1}, {10, 1e-300, 1},
		{1000, 99.9, 999}, {1_000_000, 99.99, 999_900}, {1_000_000, 99.9999, 999_999}, {1000, 55, 550}, {1000, 55.1, 551},
		{math.MaxInt64, 99.9999, 9223362813482738953}, {math.MaxInt64, 100, math.MaxInt64},
	} {
		if got := Rank(tt.n, tt.percent); got != tt.want {
			t.Errorf("Rank(%d, %v) is %d, want %d", tt.n, tt.percent, got, tt.want)
		}
	}
}

func TestRankAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 20_000 {
		// A decimal of up to eight places, and a size that often makes a whole
		// rank of it.
		scale := int64(math.Pow10(r.IntN(9)))
		num := r.Int64N(100*scale-1) + 1
		n := r.Int64N(1<<uint(r.IntN(62)+1)) + 1
		if r.IntN(2) == 0 {
			n = int64(math.Pow10(r.IntN(18)))
		}
		// ceil(num·n / (100·scale))
		den := new(big.Int).Mul(big.NewInt(100), big.NewInt(scale))
		want := new(big.Int).Mul(big.NewInt(num), big.NewInt(n))
		want.Add(want, den).Sub(want, big.NewInt(1)).Quo(want, den)
		percent, _ := big.NewRat(num, scale).Float64()
		if got := Rank(n, percent); got != want.Int64() {
			t.Fatalf("Rank(%d, %v) is %d, want %d", n, percent, got, want)
		}
		fraction, _ := new(big.Rat).SetFrac(big.NewInt(num), den).Float64()
		if got := Fraction(percent); got != fraction {
			t.Fatalf("Fraction(%v) is %v, want %v", percent, got, fraction)
		}
	}
}

func TestFraction(t *testing.T) {
	for percent, want := range map[float64]float64{99.9: 0.999, 99.99: 0.9999, 99.9999: 0.999999, 50: 0.5, 0: 0, 100: 1, 1e-300: 1e-302} {
		if got := Fraction(percent); got != want {
			t.Errorf("Fraction(%v) is %v, want %v", percent, got, want)
		}
	}
	if got := Fraction(math.NaN()); !math.IsNaN(got) {
		t.Errorf("Fraction(NaN) is %v", got)
	}
	if got := Fraction(math.Inf(1)); !math.IsInf(got, 1) {
		t.Errorf("Fraction(+Inf) is %v", got)
	}
}

func BenchmarkQuantileRanks(b *testing.B) {
	for b.Loop() {
		QuantileRanks(1_000_000, 0.999, 0.95)
	}
}

// rankCoverage returns the probability that the order statistics of ranks lo
// and hi of n independent values enclose the quantile p of a continuous
// population: B(hi-1; n, p) - B(lo-1; n, p).
func rankCoverage(n int64, p float64, lo, hi int64) float64 {
	b := binomial{n, p, 1 - p}
	return max(0, 1-b.below(lo-1)-b.above(hi))
}
