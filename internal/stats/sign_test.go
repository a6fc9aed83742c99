package stats

import (
	"math"
	"testing"
)

// The tail of the binomial distribution, against sums of binomial coefficients.
func TestSignTest(t *testing.T) {
	for n := range 31 {
		for k := range n + 2 {
			want := 0.0
			for i := k; i <= n; i++ {
				choose := 1.0
				for j := range i {
					choose *= float64(n-j) / float64(j+1)
				}
				want += choose / math.Pow(2, float64(n))
			}
			if got := SignTest(k, n); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
}
