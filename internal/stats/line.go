package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Line is a straight line fitted by least squares.
type Line struct {
	Slope, Intercept float64
	// SlopeError is the standard error of the slope, as if the residuals were
	// independent. Successive readings of a queue are not: then it is too
	// small, and a slope should also be judged by its size.
	SlopeError float64
	N          int
}

// FitLine fits y = Intercept + Slope·x. ok is false with fewer than three points, if
// the lengths of x and y differ, if all x are equal, or if a value is not finite.
func FitLine(x, y []float64) (l Line, ok bool) {
	n := len(x)
	if n < 3 || len(y) != n {
		return Line{}, false
	}
	// Subtract the means first: instants are large numbers close together.
	mx, my := mean(x), mean(y)
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope := sxy / sxx
	if !(sxx > 0) || math.IsNaN(slope) || math.IsInf(slope, 0) {
		return Line{}, false
	}
	var rss float64
	for i := range x {
		r := (y[i] - my) - slope*(x[i]-mx)
		rss += r * r
	}
	return Line{
		Slope:      slope,
		Intercept:  my - slope*mx,
		SlopeError: math.Sqrt(rss / float64(n-2) / sxx),
		N:          n,
	}, true
}

// SlopeInterval returns the interval of the slope by Student's t with N-2
// degrees of freedom, for conf in (0, 1): the one place here that assumes
// normal residuals.
func (l Line) SlopeInterval(conf float64) (lo, hi float64) {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(l.N - 2)}.Quantile(1 - (1-conf)/2)
	return l.Slope - t*l.SlopeError, l.Slope + t*l.SlopeError
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
