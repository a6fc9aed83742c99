package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval of a mean covers as it says, also of three rounds.
func TestOverRoundsCovers(t *testing.T) {
	const series = 600
	for _, n := range []int{3, 5, 10} {
		held := 0
		for seed := range uint64(series) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			x := make([]float64, n)
			for i := range x {
				x[i] = 10 + rng.NormFloat64()
			}
			e := OverRounds(n, func(rounds []int) []float64 {
				sum := 0.0
				for _, r := range rounds {
					sum += x[r]
				}
				return []float64{sum / float64(len(rounds))}
			}, 0.95, seed)[0]
			if e.Bounded && e.Low <= 10 && 10 <= e.High {
				held++
			}
		}
		if share := float64(held) / series; share < 0.92 || share > 0.98 {
			t.Errorf("%d rounds: %.1f %% of the intervals hold it", n, 100*share)
		}
	}
}

func TestOverRoundsWithout(t *testing.T) {
	figures := func(rounds []int) []float64 {
		for _, r := range rounds {
			if r == 0 {
				return []float64{1, float64(rounds[1])}
			}
		}
		return []float64{math.NaN(), float64(rounds[1])} // without round 0
	}
	for _, e := range OverRounds(2, figures, 0.95, 1) {
		if e.Bounded || !math.IsNaN(e.Low) {
			t.Errorf("of two rounds: %+v", e)
		}
	}
	e := OverRounds(5, figures, 0.95, 1)
	if e[0].Bounded || e[0].Value != 1 || !e[1].Bounded {
		t.Errorf("a figure that a third of the resamplings have not: %+v", e)
	}
	if again := OverRounds(5, figures, 0.95, 1); again[1] != e[1] {
		t.Errorf("the same seed gives %+v and %+v", again[1], e[1])
	}
}
