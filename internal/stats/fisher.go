package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

// FisherExact returns the one-sided p-value of Fisher's exact test. The null hypothesis is
// that x of n and y of m have the same probability, the alternative that x's is higher. The
// p-value is the probability, given x+y in all, of at least x among the n (R. A. Fisher,
// Statistical methods for research workers, 1934). n and m must be at least 1 and at most a
// few hundred, and x and y must not exceed them.
func FisherExact(x, n, y, m int) float64 {
	all := combin.LogGeneralizedBinomial(float64(n+m), float64(x+y))
	p := 0.0
	for k := x; k <= min(n, x+y); k++ {
		if x+y-k > m {
			continue
		}
		p += math.Exp(combin.LogGeneralizedBinomial(float64(n), float64(k)) + combin.LogGeneralizedBinomial(float64(m), float64(x+y-k)) - all)
	}
	return min(p, 1)
}
