package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// HalfWidth is half the width of Student's interval of a mean of n values, in standard deviations of a value. It plans
// samples: the project's intervals of what was measured assume no distribution. n is at least 2.
func HalfWidth(n int, conf float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1-(1-conf)/2) / math.Sqrt(float64(n))
}

// LargestSpread is the standard deviation of n values of mean 0 up to which their interval with that confidence lies within
// ±margin in four of five samples, about: the mean itself is within 1.28 standard errors in these.
func LargestSpread(n int, conf, margin float64) float64 {
	return margin / (HalfWidth(n, conf) + distuv.UnitNormal.Quantile(0.9)/math.Sqrt(float64(n)))
}
