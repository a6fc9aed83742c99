package sweep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// USLForm is the formula of the law that [FitUSL] fits, for output.
const USLForm = "X(N) = γN / (1 + σ(N−1) + κN(N−1))"

// Load is one trial of a curve of throughput over concurrency.
type Load struct {
	N float64 // concurrency: producers, connections, processors; at least 1
	X float64 // throughput, messages a second; above 0
}

// USL is the Universal Scalability Law of a system: X(N) = γN/(1+σ(N−1)+κN(N−1)).
type USL struct {
	Refused string // why nothing was fitted; empty: the fit exists
	// Gamma is the throughput at N = 1 in messages a second, Sigma the serial share of
	// the work (contention), and Kappa the cost of agreement between each pair
	// (coherency). Sigma and Kappa are at least 0.
	Gamma, Sigma, Kappa stats.Estimate
	// Peak is √((1−σ)/κ), the concurrency with the highest throughput, if PeakTold; else
	// Unreported says why it is not given.
	Peak       stats.Estimate
	PeakTold   bool
	Unreported string
	Highest    float64 // throughput at Peak
	// Residuals are in the order of rounds and trials.
	Residuals []Residual
	Text      string // the result in one line
}

// Residual is the difference between a trial and the law.
type Residual struct {
	Round    int // from 0
	N, X     float64
	Fitted   float64
	Relative float64 // X/Fitted − 1
}

// leastLoads is how many different concurrencies a fit needs.
const leastLoads = 6

// At returns the throughput of the law at a concurrency, in messages a second.
func (u USL) At(n float64) float64 {
	return u.Gamma.Value * n / (1 + u.Sigma.Value*(n-1) + u.Kappa.Value*n*(n-1))
}

// FitUSL fits the Universal Scalability Law (Gunther, Guerrilla capacity planning, 2007)
// to rounds of a sweep over concurrency, by least squares of the logarithm of the
// throughput, so that errors are relative. N/X is linear in 1/γ, σ/γ and κ/γ: the fit
// repeats a linear one in which γ, σ and κ cannot be negative (every choice of the ones
// that are 0 is tried). conf is the confidence of the intervals, in (0, 1).
//
// The intervals are those of [stats.OverRounds] for the same fit without these limits,
// then cut at 0, because resamplings at the limit itself have no spread. The peak is given
// only if the interval of κ lies above 0, so that the curve has a maximum, and if the peak
// lies within the tried concurrencies: nothing is extrapolated.
func FitUSL(rounds [][]Load, conf float64) USL {
	var u USL
	all := make([]int, len(rounds))
	for i := range all {
		all[i] = i
	}
	points, different := loadsOf(rounds, all)
	if different < leastLoads {
		u.Refused = fmt.Sprintf("%d different concurrencies are too few: it needs %d, on both sides of the peak", different, leastLoads)
		u.Text = "no scalability law was fitted: " + u.Refused
		return u
	}
	g, ok := fitUSL(points, true)
	if !ok {
		u.Refused = "no such curve goes through the data"
		u.Text = "no scalability law was fitted: " + u.Refused
		return u
	}
	found := stats.OverRounds(len(rounds), func(pick []int) []float64 {
		if points, different := loadsOf(rounds, pick); different >= leastLoads {
			if f, ok := fitUSL(points, false); ok {
				return []float64{math.Log(f.gamma), f.sigma, f.kappa, math.Log(f.peak())}
			}
		}
		none := math.NaN()
		return []float64{none, none, none, none}
	}, conf, uslSeed)
	u.Gamma = exp(found[0], g.gamma)
	u.Sigma, u.Kappa = positive(found[1], g.sigma), positive(found[2], g.kappa)
	for i, round := range rounds {
		for _, p := range round {
			if p.valid() {
				fitted := g.at(p.N)
				u.Residuals = append(u.Residuals, Residual{Round: i, N: p.N, X: p.X, Fitted: fitted, Relative: p.X/fitted - 1})
			}
		}
	}
	least, most := points[0].N, points[0].N
	for _, p := range points {
		least, most = min(least, p.N), max(most, p.N)
	}
	peak := g.peak()
	switch {
	case !found[2].Bounded:
		u.Unreported = "there is no interval for whether the curve bends: " + unbounded(len(rounds))
	case !(found[2].Low > 0):
		u.Unreported = "the curve does not bend: the data are described as well without coherency (κ = 0), and then the throughput has no peak"
	case math.IsNaN(peak):
		u.Unreported = "σ is 1 or more: a concurrency of one is fastest"
	case peak > most:
		u.Unreported = fmt.Sprintf("it lies beyond %s, the highest concurrency tried: nothing is extrapolated", amount(most))
	case peak < least:
		u.Unreported = fmt.Sprintf("it lies below %s, the lowest concurrency tried", amount(least))
	case !found[3].Bounded:
		u.Unreported = "it has no interval: " + unbounded(len(rounds))
	default:
		u.PeakTold, u.Peak, u.Highest = true, exp(found[3], peak), g.at(peak)
	}
	u.Text = fmt.Sprintf("σ %s, κ %s, γ %s/s", shown(u.Sigma), shown(u.Kappa), shown(u.Gamma))
	if u.PeakTold {
		u.Text += fmt.Sprintf("; the peak of %s is at N = %s", spell.Rate(u.Highest), shown(u.Peak))
	} else {
		u.Text += "; the peak is not known: " + u.Unreported
	}
	if found[1].Bounded && found[1].High < 0 {
		u.Text += "; the throughput grows faster than N, and the law has no term for that"
	}
	return u
}

// uslSeed is the seed of the resamplings: the same data give the same intervals.
const uslSeed = 0x75736c

// shown writes an estimate with its interval.
func shown(e stats.Estimate) string {
	if !e.Bounded {
		return amount(e.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", amount(e.Value), amount(e.Low), amount(e.High))
}

// exp converts an estimate of a logarithm to one of the figure, whose value is given.
func exp(log stats.Estimate, value float64) stats.Estimate {
	e := stats.Estimate{Value: value, Bounded: log.Bounded}
	if e.Bounded {
		e.Low, e.High = min(math.Exp(log.Low), value), max(math.Exp(log.High), value)
	}
	return e
}

// positive cuts an interval at 0.
func positive(free stats.Estimate, value float64) stats.Estimate {
	e := stats.Estimate{Value: value, Bounded: free.Bounded}
	if e.Bounded {
		e.Low, e.High = min(max(free.Low, 0), value), max(free.High, value)
	}
	return e
}

func (l Load) valid() bool { return l.N >= 1 && l.X > 0 && !math.IsInf(l.N, 0) && !math.IsInf(l.X, 0) }

// loadsOf returns the trials of the picked rounds and the number of their different
// concurrencies.
func loadsOf(rounds [][]Load, pick []int) (points []Load, different int) {
	var ns []float64
	for _, i := range pick {
		for _, p := range rounds[i] {
			if p.valid() {
				points = append(points, p)
				ns = append(ns, p.N)
			}
		}
	}
	slices.Sort(ns)
	return points, len(slices.Compact(ns))
}

// usl are the law's parameters.
type usl struct{ gamma, sigma, kappa float64 }

func (u usl) at(n float64) float64 { return u.gamma * n / (1 + u.sigma*(n-1) + u.kappa*n*(n-1)) }

// peak returns the concurrency with the highest throughput, NaN if none exists.
func (u usl) peak() float64 {
	if !(u.kappa > 0 && u.sigma < 1) {
		return math.NaN()
	}
	return math.Sqrt((1 - u.sigma) / u.kappa)
}

// fitUSL minimises Σ(ln X − ln X(N))² by Gauss and Newton's method: with m the
// fitted N/X, each step is the linear problem Σ((m(1 + ln(y/m)) − m')/m)² for m'.
// limited says that σ and κ are at least 0.
func fitUSL(points []Load, limited bool) (u usl, ok bool) {
	weight, target := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		weight[i], target[i] = p.X/p.N, p.N/p.X
	}
	for range 20 {
		next, ok := solveUSL(points, weight, target, limited)
		if !ok {
			return u, false
		}
		for i, p := range points {
			m := p.N / next.at(p.N)
			if !(m > 0) {
				return u, false
			}
			y := p.N / p.X
			weight[i], target[i] = 1/m, m*(1+math.Log(y/m))
		}
		done := math.Abs(next.gamma/u.gamma-1)+math.Abs(next.sigma-u.sigma)+math.Abs(next.kappa-u.kappa) < 1e-10
		if u = next; done {
			break
		}
	}
	return u, true
}

// solveUSL solves the linear problem: of the allowed choices of terms it returns the one with
// the least sum of squares.
func solveUSL(points []Load, weight, target []float64, limited bool) (best usl, ok bool) {
	choices := [][]int{{0, 1, 2}}
	if limited {
		choices = [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}}
	}
	least := math.Inf(1)
	for _, terms := range choices {
		a, b := mat.NewDense(len(points), len(terms), nil), mat.NewVecDense(len(points), nil)
		for i, p := range points {
			row := [...]float64{1, p.N - 1, p.N * (p.N - 1)}
			for k, term := range terms {
				a.Set(i, k, weight[i]*row[term])
			}
			b.SetVec(i, weight[i]*target[i])
		}
		var x, left mat.VecDense
		if err := x.SolveVec(a, b); err != nil {
			continue
		}
		var c [3]float64
		for k, term := range terms {
			c[term] = x.AtVec(k)
		}
		if !(c[0] > 0) || limited && (c[1] < 0 || c[2] < 0) {
			continue
		}
		left.MulVec(a, &x)
		left.SubVec(b, &left)
		if squares := mat.Dot(&left, &left); squares < least {
			least, ok = squares, true
			best = usl{gamma: 1 / c[0], sigma: c[1] / c[0], kappa: c[2] / c[0]}
		}
	}
	return best, ok
}
