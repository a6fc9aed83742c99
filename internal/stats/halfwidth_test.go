package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestHalfWidth(t *testing.T) {
	for _, tt := range []struct {
		n          int
		conf, want float64
	}{{10, 0.95, 0.7154}, {2, 0.95, 8.985}, {20, 0.99, 0.6397}} {
		if got := HalfWidth(tt.n, tt.conf); math.Abs(got/tt.want-1) > 1e-3 {
			t.Errorf("%d values, %v: %v, want %v", tt.n, tt.conf, got, tt.want)
		}
	}
}

// Of samples with the largest spread four of five have their interval within the margin.
func TestLargestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, trials = 15, 4000
	sd, within := LargestSpread(n, 0.95, 0.05), 0
	for range trials {
		var sum, sq float64
		for range n {
			v := sd * r.NormFloat64()
			sum += v
			sq += v * v
		}
		mean := sum / n
		if half := math.Sqrt((sq-n*mean*mean)/(n-1)) * HalfWidth(n, 0.95); math.Abs(mean)+half <= 0.05 {
			within++
		}
	}
	if share := float64(within) / trials; share < 0.75 || share > 0.85 {
		t.Errorf("within in %.0f %%", share*100)
	}
}
