package stats

import (
	"math"
	"slices"
)

// Blocks is a run cut into stretches of time, for intervals that do not assume
// independent messages.
type Blocks interface {
	// Len is the number of blocks, in order of time.
	Len() int
	// Count is the number of values in block i. Above is how many of them lie above v;
	// it must not increase with v.
	Count(i int) int64
	Above(i int, v int) int64
}

const (
	// LeastChunks is the least number of stretches in a run that statistics can use.
	LeastChunks = 10
)

// ChunkLength returns how many of a run's n blocks to keep together so that the stretches
// are nearly independent: at least the length of the longest burst, and at least the length
// for a series whose neighbours have the correlation rho. The latter is n^(1/3) (Künsch,
// Annals of Statistics 17, 1989), times Carlstein's factor for an autoregressive series
// (Annals of Statistics 14, 1986), (√6·ρ/(1−ρ²))^(2/3), if that is above 1. ok is false if
// the run has fewer than [LeastChunks] such stretches.
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
		return 0 // rounding errors of the differences from the mean would be correlated
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
