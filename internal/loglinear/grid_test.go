package loglinear

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Buckets follow one another without a gap up to the largest value, and each holds what
// lies between its ends.
func TestGrid(t *testing.T) {
	for _, g := range []Grid{1, 3, 7, 8, 10} {
		last := g.Index(math.MaxInt64)
		for i := range last + 1 {
			low, high := g.Floor(i), g.Ceiling(i)
			if g.Index(low) != i || g.Index(high) != i || high < low || i > 0 && g.Ceiling(i-1) != low-1 {
				t.Fatalf("%d: bucket %d is %d to %d", g, i, low, high)
			}
			if float64(high-low) > float64(low)/float64(int(1)<<g) {
				t.Fatalf("%d: bucket %d, %d to %d, is wide", g, i, low, high)
			}
		}
		if g.Floor(0) != 0 || g.Ceiling(last) != math.MaxInt64 || last != (64-int(g))<<g-1 {
			t.Errorf("%d: %d to %d in %d buckets", g, g.Floor(0), g.Ceiling(last), last+1)
		}
		r := rand.New(rand.NewPCG(1, uint64(g)))
		for range 1000 {
			v := r.Int64() >> r.IntN(63)
			if i := g.Index(v); v < g.Floor(i) || v > g.Ceiling(i) {
				t.Fatalf("%d: %d is in bucket %d, %d to %d", g, v, i, g.Floor(i), g.Ceiling(i))
			}
		}
	}
}
