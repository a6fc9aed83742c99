// Package exact describes values that are all kept: what reference
// programs print.
package exact

import (
	"math"
	"slices"
)

// Histogram describes exact values in nanoseconds, in the shape of `sixnines run
// --json`.
type Histogram struct {
	Count       int              `json:"count"`
	Min         int64            `json:"min"`
	Max         int64            `json:"max"`
	Mean        float64          `json:"mean"`
	StdDev      float64          `json:"stddev"`
	Percentiles map[string]int64 `json:"percentiles"`
}

// Summarise sorts values and describes them; percentiles are the nearest rank.
func Summarise(values []int64) Histogram {
	n := len(values)
	if n == 0 {
		return Histogram{}
	}
	slices.Sort(values)
	var sum, squares float64
	for _, v := range values {
		sum += float64(v)
	}
	mean := sum / float64(n)
	for _, v := range values {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	h := Histogram{
		Count: n, Min: values[0], Max: values[n-1], Mean: mean,
		StdDev: math.Sqrt(squares / float64(n)), Percentiles: make(map[string]int64),
	}
	for label, perMyriad := range map[string]int{"50": 5000, "90": 9000, "99": 9900, "99.9": 9990, "99.99": 9999} {
		h.Percentiles[label] = values[nearestRank(n, perMyriad)-1]
	}
	return h
}

// nearestRank is ⌈n·p⌉ for p in ten-thousandths, in integers.
func nearestRank(n, perMyriad int) int { return (n*perMyriad + 9999) / 10000 }
