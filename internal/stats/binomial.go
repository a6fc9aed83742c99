package stats

import "math"

// The binomial distribution, for sizes up to 1e12 and beyond.
//
// gonum's mathext.RegIncBeta would be shorter, but it stops its continued fraction
// after 300 terms, too few near the mean of large samples: for 1e12 values at the
// median the relative error of its 2.5 % tail is 0.00075, which is some 150 ranks. So
// probabilities use Loader's saddle-point form, with an error of about 1e-12 at any
// size, and tails are sums of ratios, which needs at most about nine standard
// deviations of terms.

// binomial is the number of successes in n trials. q is 1 - p; both are stored
// because one of them may be known to more digits than the other.
type binomial struct {
	n    int64
	p, q float64
}

// pmf returns P(X = k).
func (b binomial) pmf(k int64) float64 {
	n := b.n
	switch {
	case k < 0 || k > n:
		return 0
	case k == 0:
		return math.Exp(float64(n) * logOf(b.q, b.p))
	case k == n:
		return math.Exp(float64(n) * logOf(b.p, b.q))
	}
	x, y, m := float64(k), float64(n-k), float64(n)
	// Loader, Fast and Accurate Computation of Binomial Probabilities, 2000.
	l := stirlingError(n) - stirlingError(k) - stirlingError(n-k) - deviance(x, m*b.p) - deviance(y, m*b.q)
	return math.Exp(l) * math.Sqrt(m/(2*math.Pi*x*y))
}

// logOf returns ln p for q = 1 - p; it uses q where p is near 1.
func logOf(p, q float64) float64 {
	if q < 0.5 {
		return math.Log1p(-q)
	}
	return math.Log(p)
}

// above returns P(X ≥ k).
func (b binomial) above(k int64) float64 {
	if k <= 0 {
		return 1
	}
	if k > b.n {
		return 0
	}
	if float64(k) <= float64(b.n)*b.p {
		return max(0, 1-b.mirror().above(b.n-k+1))
	}
	// The terms decrease from k on, slowly at first.
	term := b.pmf(k)
	sum := term
	odds := b.p / b.q
	for i := k; i < b.n && term > sum*1e-18; i++ {
		term *= float64(b.n-i) / float64(i+1) * odds
		sum += term
	}
	return min(sum, 1)
}

// below returns P(X ≤ k).
func (b binomial) below(k int64) float64 { return b.mirror().above(b.n - k) }

// mirror is the number of failures.
func (b binomial) mirror() binomial { return binomial{b.n, b.q, b.p} }

// stirlingError returns ln n! less Stirling's approximation of it.
func stirlingError(n int64) float64 {
	x := float64(n)
	if n < 16 {
		l, _ := math.Lgamma(x + 1)
		if n == 0 {
			return 0
		}
		return l - (x+0.5)*math.Log(x) + x - 0.5*math.Log(2*math.Pi)
	}
	x2 := x * x
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-(1.0/1188-691.0/360360/x2)/x2)/x2)/x2)/x2) / x
}

// deviance returns x·ln(x/m) + m - x without the cancellation near x = m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum := (x - m) * v
	term := 2 * x * v
	for i := 3.0; ; i += 2 {
		term *= v * v
		next := sum + term/i
		if next == sum {
			return sum
		}
		sum = next
	}
}
