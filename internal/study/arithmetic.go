package study

import (
	"errors"
	"math"
)

// arithmetic are the functions of tests of the kind arithmetic.
func arithmetic() map[string]func(of []float64) (float64, error) {
	return map[string]func([]float64) (float64, error){
		"all-within": allWithin,
	}
}

// allWithin is the share of sessions of so many requests, the second number, of which
// each stays within a percentile, the first one, if requests are independent: p^n.
func allWithin(of []float64) (float64, error) {
	if len(of) != 2 || of[0] <= 0 || of[0] >= 100 || of[1] < 1 {
		return 0, errors.New("it takes a percentile and a number of requests, such as [99.97, 200]")
	}
	return math.Pow(of[0]/100, of[1]), nil
}
