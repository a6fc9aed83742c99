package stats

import (
	"math"
	"slices"
)

// Blocks is a run cut into stretches of time, for intervals that do not take
// messages for independent.
type Blocks interface {
	// Len is the number of blocks, in order of time.
	Len() int
	// Count is how many values block i has, Above how many of them lie above v,
	// which must not grow with v.
	Count(i int) int64
	Above(i int, v int) int64
}

const (
	// LeastChunks is how many stretches a run must consist of for them to say something.
	LeastChunks = 10
)

// ChunkLength returns how many blocks of a run of n to keep together so that the stretches
// are nearly independent: as many as the longest burst has, and at least what serves a
// series in which neighbours have the correlation rho: of order n^(1/3) (Künsch,
// Annals of Statistics 17, 1989), times what Carlstein (Annals of Statistics 14,
// 1986) has for an autoregressive one, (√6·ρ/(1−ρ²))^(2/3), if that is more than
// 1. ok is false where fewer than [LeastChunks] such stretches make the run.
func ChunkLength(n, burst int, rho float64) (length int, ok bool) {
	factor := 1.0
	if rho = min(rho, 0.99); rho > 0 {
		factor = max(1, math.Pow(math.Sqrt(6)*rho/(1-rho*rho), 2.0/3))
	}
	length = max(1, burst, int(math.Round(factor*math.Cbrt(float64(n)))))
	return length, n >= LeastChunks*length
}

// Autocorrelation returns the correlation of neighbours in a series, 0 where
// nothing varies.
func Autocorrelation(x []float64) float64 {
	if len(x) == 0 || slices.Min(x) == slices.Max(x) {
		return 0 // what rounding leaves of the differences from the mean is correlated
	}
	m := mean(x)
	var own, neighbours float64
	for i, v := range x {
		own += (v - m) * (v - m)
		if i > 0 {
			neighbours += (v - m) * (x[i-1] - m)
		}
	}
	if !(own > 0) {
		return 0
	}
	return neighbours / own
}
