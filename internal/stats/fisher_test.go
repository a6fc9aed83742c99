package stats

import (
	"math"
	"testing"
)

// Values by counting: all of five against none of five is one of C(10, 5) = 252 ways.
func TestFisherExact(t *testing.T) {
	for _, tt := range []struct {
		x, n, y, m int
		want       float64
	}{
		{5, 5, 0, 5, 1.0 / 252}, {4, 4, 0, 4, 1.0 / 70}, {5, 5, 1, 5, 6.0 / 252}, {4, 5, 0, 5, 6.0 / 252}, {5, 5, 2, 5, 21.0 / 252},
		{0, 5, 5, 5, 1}, {3, 3, 3, 3, 1}, {0, 3, 0, 3, 1}, {3, 4, 1, 4, 17.0 / 70}, // Fisher's lady tasting tea
	} {
		if got := FisherExact(tt.x, tt.n, tt.y, tt.m); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%d of %d against %d of %d: %v, want %v", tt.x, tt.n, tt.y, tt.m, got, tt.want)
		}
	}
}
