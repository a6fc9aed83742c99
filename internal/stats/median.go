package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Median returns the median of x, which is not changed: the middle value, or
// the mean of the two in the middle. It is NaN where x is empty or holds NaN.
func Median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	n := len(s)
	if n == 0 || math.IsNaN(s[0]) {
		return math.NaN()
	}
	// Halves, so that the sum cannot overflow.
	return s[(n-1)/2]/2 + s[n/2]/2
}

// MedianInterval returns two values of x that enclose the median of the
// population with at least the given confidence, exactly and whatever the
// distribution (see [QuantileRanks]). ok is false where x is too short: six
// values are needed for 95 %. x is not changed and must not hold NaN.
func MedianInterval(x []float64, conf float64) (lo, hi float64, ok bool) {
	return MedianIntervalAbsent(x, 0, conf)
}

// MedianIntervalAbsent is [MedianInterval] for a sample that lacks absent more values, which
// are unknown: lo is the lower end with all of them below x, and hi the upper end with all of
// them above. ok is also false if an absent value would be an end.
func MedianIntervalAbsent(x []float64, absent int, conf float64) (lo, hi float64, ok bool) {
	l, u, ok := QuantileRanks(int64(len(x)+absent), 0.5, conf)
	if first, last := int(l)-1-absent, int(u)-1; ok && first >= 0 && last < len(x) {
		s := slices.Clone(x)
		slices.Sort(s)
		return s[first], s[last], true
	}
	return 0, 0, false
}

// Ratio is the median ratio over pairs of runs; a run is one sample.
type Ratio struct {
	Median float64
	// Lo and Hi enclose the median ratio with the confidence asked for, if
	// Bounded; at 95 % that needs at least six pairs.
	Lo, Hi  float64
	Bounded bool
	Pairs   int
}

// MedianRatio compares interleaved pairs of measurements: the median of a[i]/b[i] and
// its interval, from order statistics. It uses the median of the ratios, not the ratio
// of the medians, so that an effect on both runs of a pair cancels. It returns an error
// if a and b are empty or differ in length, or if a value is not positive and finite.
func MedianRatio(a, b []float64, conf float64) (Ratio, error) {
	if len(a) != len(b) {
		return Ratio{}, fmt.Errorf("median ratio: %d values against %d: these are not pairs", len(a), len(b))
	}
	if len(a) == 0 {
		return Ratio{}, errors.New("median ratio: no pairs")
	}
	ratios := make([]float64, len(a))
	for i := range a {
		for _, v := range []float64{a[i], b[i]} {
			if !(v > 0) || math.IsInf(v, 0) {
				return Ratio{}, fmt.Errorf("median ratio: pair %d: %v is not a positive number", i, v)
			}
		}
		ratios[i] = a[i] / b[i]
	}
	r := Ratio{Median: Median(ratios), Pairs: len(ratios)}
	r.Lo, r.Hi, r.Bounded = MedianInterval(ratios, conf)
	return r, nil
}
