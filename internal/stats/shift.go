package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// ExactPairs is the number of pairs up to which [ShiftFunction] goes through
// every assignment of signs; beyond, it draws [flipsDrawn] of them.
const ExactPairs = 16

// flipsDrawn gives a p-value near 0.05 a standard error of 0.0012.
const flipsDrawn = 1 << 15

// Shift is the shift function of B against A: the ratio of each quantile, with
// intervals that hold for all quantiles simultaneously.
type Shift struct {
	Points []ShiftPoint
	// P is the probability, if A and B differ only by chance, that the largest
	// statistic over the quantiles is at least as large as this one.
	P     float64
	Pairs int
	Exact bool // every assignment of signs was tried; else a random sample of them
}

// ShiftPoint is the shift of one quantile.
type ShiftPoint struct {
	Ratio  float64 // B against A: the geometric mean over the pairs
	Lo, Hi float64 // simultaneous interval of Ratio, valid if Bounded
	// P is the quantile's p-value, adjusted for the number of quantiles tested.
	P       float64
	Bounded bool
}

// ShiftFunction compares two systems by pairs of runs; a run is one sample: a[i][k] and
// b[i][k] are the k-th quantile of the i-th pair's runs.
//
// In each pair d = ln b/a. If A and B do not differ, d is as likely as −d, for all
// quantiles together. So the sign of each pair is flipped in every combination, and the
// largest
//
//	u(k) = |Σ s(i)·d(i,k)| / √(Σ d(i,k)²)
//
// over the quantiles is compared with the observed one. u grows with Student's t of the
// same differences, so that quantiles of different spread have equal weight. The p-values
// hold for any distribution and any dependence between quantiles (Westfall and Young,
// Resampling-Based Multiple Testing, 1993). The least p-value of n pairs is 2/2ⁿ: 0.031
// for six.
//
// The interval of a quantile has each shift δ that the test, with d − δ for this quantile
// and the others centred, does not reject at 1 − conf. Centring makes this step an
// approximation; tests simulate that the coverage is kept. The interval is missing if no
// shift is rejected, however large. With six pairs that happens if the differences of
// another quantile are all equally far from their mean, half of them on each side: then
// two of 32 assignments reach the largest possible u.
//
// It returns an error with fewer than two pairs, without quantiles, if lengths differ, and
// if a value is not positive and finite.
func ShiftFunction(a, b [][]float64, conf float64) (Shift, error) {
	d, err := differences(a, b)
	if err != nil {
		return Shift{}, err
	}
	pairs, quantiles := len(a), len(d)
	s := Shift{Pairs: pairs, Exact: pairs <= ExactPairs}
	flips := signs(pairs)
	// Without a shift: the p-values.
	as := make([]*flipped, quantiles)
	for k := range d {
		as[k] = newFlipped(d[k], flips)
	}
	largest := largestOf(as, -1)
	for k := range d {
		s.Points = append(s.Points, ShiftPoint{P: share(largest, as[k].at(0, 0))})
	}
	s.P = 1
	for _, p := range s.Points {
		s.P = min(s.P, p.P)
	}
	// With one: the intervals.
	centred := make([]*flipped, quantiles)
	means, spreads := make([]float64, quantiles), make([]float64, quantiles)
	for k := range d {
		means[k] = mean(d[k])
		about := make([]float64, pairs)
		for i, v := range d[k] {
			about[i] = v - means[k]
			spreads[k] = max(spreads[k], math.Abs(about[i]))
		}
		centred[k] = newFlipped(about, flips)
	}
	possible := 2/math.Pow(2, float64(pairs)) <= 1-conf
	for k := range d {
		p := &s.Points[k]
		p.Ratio = math.Exp(means[k])
		if !possible {
			continue
		}
		others := largestOf(centred, k)
		accepted := func(delta float64) bool { return as[k].p(delta, others) > 1-conf }
		lo, below := edge(means[k], -spreads[k], accepted)
		hi, above := edge(means[k], spreads[k], accepted)
		if p.Bounded = below && above; p.Bounded {
			p.Lo, p.Hi = math.Exp(lo), math.Exp(hi)
		}
	}
	return s, nil
}

// differences returns ln b/a by quantile and pair.
func differences(a, b [][]float64) ([][]float64, error) {
	switch {
	case len(a) != len(b):
		return nil, fmt.Errorf("shift function: %d runs against %d: these are not pairs", len(a), len(b))
	case len(a) < 2:
		return nil, errors.New("shift function: at least two pairs of runs are needed")
	case len(a[0]) == 0:
		return nil, errors.New("shift function: no quantiles")
	}
	d := make([][]float64, len(a[0]))
	for k := range d {
		d[k] = make([]float64, len(a))
	}
	for i := range a {
		if len(a[i]) != len(d) || len(b[i]) != len(d) {
			return nil, fmt.Errorf("shift function: pair %d has %d and %d quantiles instead of %d", i, len(a[i]), len(b[i]), len(d))
		}
		for k := range d {
			for _, v := range []float64{a[i][k], b[i][k]} {
				if !(v > 0) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("shift function: pair %d, quantile %d: %v is not a positive number", i, k, v)
				}
			}
			d[k][i] = math.Log(b[i][k] / a[i][k])
		}
	}
	return d, nil
}

// signs returns assignments of signs to n pairs, 64 to a word, a set bit for a minus. The
// first flips nothing. A statistic does not change if all signs do, so the last pair keeps
// its sign. If n is above [ExactPairs], the assignments are a random sample with a fixed
// seed, so that a repeated computation gives the same result.
func signs(n int) [][]uint64 {
	if n <= ExactPairs {
		all := make([][]uint64, 1<<(n-1))
		for i := range all {
			all[i] = []uint64{uint64(i)}
		}
		return all
	}
	r := rand.New(rand.NewPCG(uint64(n), 0x5157f11b5))
	drawn := make([][]uint64, flipsDrawn)
	for i := range drawn {
		drawn[i] = make([]uint64, (n+63)/64)
		for w := range drawn[i] {
			if i > 0 {
				drawn[i][w] = r.Uint64()
			}
		}
	}
	return drawn
}

// flipped holds the sums of one quantile's differences under each assignment of signs, in a
// form from which the statistic of any shift follows without summing again.
type flipped struct {
	sums     []float64 // Σ s·d
	weights  []float64 // Σ s
	n        float64
	sum, sq  float64
	rounding float64 // rounding error of sums: smaller sums count as 0, so that ties are found
}

func newFlipped(d []float64, flips [][]uint64) *flipped {
	f := &flipped{n: float64(len(d)), sums: make([]float64, len(flips)), weights: make([]float64, len(flips))}
	for _, v := range d {
		f.sum += v
		f.sq += v * v
		f.rounding += math.Abs(v)
	}
	f.rounding *= 1e-12
	for k, s := range flips {
		total, weight := 0.0, 0.0
		for i, v := range d {
			sign := 1 - 2*float64(s[i/64]>>(i%64)&1) // no branch: the processor could not predict it
			total += sign * v
			weight += sign
		}
		f.sums[k], f.weights[k] = total, weight
	}
	return f
}

// at returns u under the assignment of signs number k, for d − delta.
func (f *flipped) at(k int, delta float64) float64 {
	scale := f.sq - 2*delta*f.sum + f.n*delta*delta
	v := math.Abs(f.sums[k] - delta*f.weights[k])
	if v <= f.rounding || scale <= 0 {
		return 0
	}
	return v / math.Sqrt(scale)
}

// p is the p-value of d − delta; others is the largest statistic of the other quantiles
// under each assignment.
func (f *flipped) p(delta float64, others []float64) float64 {
	observed := f.at(0, delta)
	n := 0
	for k := range f.sums {
		if atLeast(max(f.at(k, delta), others[k]), observed) {
			n++
		}
	}
	return float64(n) / float64(len(f.sums))
}

// largestOf returns, under each assignment of signs, the largest statistic over
// all quantiles but one.
func largestOf(all []*flipped, but int) []float64 {
	largest := make([]float64, len(all[0].sums))
	for k, f := range all {
		if k == but {
			continue
		}
		for i := range largest {
			largest[i] = max(largest[i], f.at(i, 0))
		}
	}
	return largest
}

// share returns the share, 0 to 1, of x that is at least v.
func share(x []float64, v float64) float64 {
	n := 0
	for _, y := range x {
		if atLeast(y, v) {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

// atLeast is x ≥ y with a tolerance for rounding errors of equal sums.
func atLeast(x, y float64) bool { return x >= y*(1-1e-9) }

// edge returns the value farthest from centre, in the direction of step, that is accepted:
// it searches outwards in doubling steps, then by bisection. ok is false if 64 steps outwards
// are all accepted.
func edge(centre, step float64, accepted func(float64) bool) (x float64, ok bool) {
	if step == 0 {
		return centre, true
	}
	in, out := centre, centre+step
	for steps := 0; accepted(out); steps++ {
		if steps == 64 {
			return 0, false
		}
		in, out = out, centre+2*(out-centre)
	}
	for range 40 {
		mid := in + (out-in)/2
		if accepted(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in, true
}
