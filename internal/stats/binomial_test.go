package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// exactPMF returns all probabilities of a binomial distribution, in 200 bits.
func exactPMF(n int64, p float64) []*big.Float {
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	bp := num(p)
	bq := num(1)
	bq.Sub(bq, bp)
	pmf := make([]*big.Float, n+1)
	term := num(1)
	for range n {
		term.Mul(term, bq)
	}
	for k := range n + 1 {
		pmf[k] = new(big.Float).Copy(term)
		term.Mul(term, num(float64(n-k)))
		term.Quo(term, num(float64(k+1)))
		term.Mul(term, bp)
		term.Quo(term, bq)
	}
	return pmf
}

// exactTails returns P(X ≥ k) for k from 0 to n+1.
func exactTails(n int64, p float64) []float64 {
	pmf := exactPMF(n, p)
	tails := make([]float64, n+2)
	sum := new(big.Float).SetPrec(200)
	for k := n; k >= 0; k-- {
		sum.Add(sum, pmf[k])
		tails[k], _ = sum.Float64()
	}
	return tails
}

// someQuantiles are those that are asked for, and random ones.
func someQuantiles(r *rand.Rand) []float64 {
	ps := []float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999999, 0.25, 0.1, 0.01, 0.001}
	for range 12 {
		ps = append(ps, r.Float64())
	}
	return ps
}

func TestBinomialAgainstSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, p := range someQuantiles(r) {
		for _, n := range []int64{1, 2, 3, 7, 15, 16, 17, 50, 133, 400} {
			pmf, tails := exactPMF(n, p), exactTails(n, p)
			b := binomial{n, p, 1 - p}
			for k := int64(0); k <= n+1; k++ {
				if got, want := b.above(k), tails[k]; math.Abs(got-want) > 1e-12*want+1e-15 {
					t.Fatalf("P(X ≥ %d) of %d at %v is %v, want %v", k, n, p, got, want)
				}
				if k > n {
					break
				}
				if got, want := b.below(k), 1-tails[k+1]; math.Abs(got-want) > 1e-12 {
					t.Fatalf("P(X ≤ %d) of %d at %v is %v, want %v", k, n, p, got, want)
				}
				want, _ := pmf[k].Float64()
				if got := b.pmf(k); math.Abs(got-want) > 1e-11*want+1e-300 {
					t.Fatalf("P(X = %d) of %d at %v is %v, want %v", k, n, p, got, want)
				}
			}
		}
	}
	if got := (binomial{5, 0.5, 0.5}).pmf(-1) + (binomial{5, 0.5, 0.5}).pmf(6); got != 0 {
		t.Errorf("probability %v outside the range", got)
	}
}

// TestBinomialAgainstIncompleteBeta takes sizes at which sums in big numbers
// are long, but gonum's function still converges.
func TestBinomialAgainstIncompleteBeta(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 500 {
		n := int64(math.Exp(r.Float64() * math.Log(2e4)))
		p := r.Float64()
		b := binomial{n, p, 1 - p}
		k := min(max(int64(float64(n)*p+r.NormFloat64()*3*math.Sqrt(float64(n)*p*(1-p))), 1), n)
		want := mathext.RegIncBeta(float64(k), float64(n-k+1), p)
		if got := b.above(k); math.Abs(got-want) > 1e-9*want+1e-14 {
			t.Errorf("P(X ≥ %d) of %d at %v is %v, want %v", k, n, p, got, want)
		}
	}
}

// TestBinomialAtAnySize holds tails of large samples against expansions whose
// error is known: the normal distribution at the median, and the
// Poisson distribution for rare events.
func TestBinomialAtAnySize(t *testing.T) {
	for _, n := range []int64{1e6, 1e8, 1e10, 1e12} {
		sd := math.Sqrt(float64(n)) / 2
		b := binomial{n, 0.5, 0.5}
		for _, z := range []float64{0.5, 1.96, 4} {
			k := n/2 + int64(z*sd)
			// With the continuity correction the error is of order 1/n, of
			// the tail some z⁴/12 times that: the next term of the expansion.
			x := (float64(k) - 0.5 - float64(n)/2) / sd
			want := math.Erfc(x/math.Sqrt2) / 2
			if got := b.above(k); math.Abs(got-want) > want*(50/float64(n)+1e-9) {
				t.Errorf("P(X ≥ %d) of %d at 0.5 is %v, want %v", k, n, got, want)
			}
		}
	}
	for _, n := range []int64{1e9, 1e12} {
		const mean = 4
		p := mean / float64(n)
		var poisson float64
		term := math.Exp(-mean)
		for k := range int64(20) {
			if got, want := (binomial{n, p, 1 - p}).below(k), poisson+term; math.Abs(got-want) > 1e-6 {
				t.Errorf("P(X ≤ %d) of %d at a mean of 4 is %v, want %v", k, n, got, want)
			}
			poisson += term
			term *= mean / float64(k+1)
		}
	}
}
