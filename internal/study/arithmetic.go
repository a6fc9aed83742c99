package study

import (
	"errors"
	"math"
)

// arithmetic returns the functions of tests of the kind arithmetic, by name.
func arithmetic() map[string]func(of []float64) (float64, error) {
	return map[string]func([]float64) (float64, error){
		"all-within": allWithin,
		"any-beyond": anyBeyond,
	}
}

// allWithin returns the share of sessions in which every request stays within a percentile, if
// requests are independent: p^n. The first number is the percentile, the second the number of
// requests in a session.
func allWithin(of []float64) (float64, error) {
	if len(of) != 2 || of[0] <= 0 || of[0] >= 100 || of[1] < 1 {
		return 0, errors.New("it takes a percentile and a number of requests, such as [99.97, 200]")
	}
	return math.Pow(of[0]/100, of[1]), nil
}

// anyBeyond returns the share of sessions in which at least one request is beyond a percentile:
// what [allWithin] leaves.
func anyBeyond(of []float64) (float64, error) {
	within, err := allWithin(of)
	return 1 - within, err
}
