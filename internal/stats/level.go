package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Change is a place in a series at which its level changes.
type Change struct {
	At int // the index of the first value of the new level
	// Ratio is the new level by the old one, and Lo to Hi its interval: the median of the ratios of
	// all pairs of a value after and one before (Hodges and Lehmann, Annals of Mathematical
	// Statistics 34, 1963), with the interval that belongs to the rank-sum test. Both reach from the
	// change before to the one after.
	Ratio, Lo, Hi float64
	P             float64 // of the test that found it
}

// LeastLevel is the least number of values of a level.
const LeastLevel = 3

// shuffles is how often a series is shuffled for the distribution of its largest statistic: often enough that
// LeastChanges values show a change whatever was drawn.
const shuffles = 9999

// LeastChanges is the least number of values among which [Changes] can find a change at a level
// of significance. The largest step is that of two halves, of which one has all the lowest ranks: by
// chance in 2 of C(n, n/2) orders. An odd number of values has two such places, before and after the value
// in the middle, and so the probability of the even number below it.
func LeastChanges(alpha float64) int {
	n := 2 * LeastLevel
	for 2/math.Exp(lgamma(n+1)-2*lgamma(n/2+1)) > alpha {
		n += 2
	}
	return n
}

func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

// Changes returns where the level of a series of positive values changes, in order. The series
// is split where the ranks before and after differ most, beside what chance gives for parts of
// such lengths, if shuffled series reach such a difference with a probability of at most alpha; then
// each part is split in the same way (Pettitt, Applied Statistics 28, 1979, by permutation and
// standardised, which also finds changes near an end). So a series of exchangeable values, however
// distributed, has a change with a probability of at most alpha, and a single outlier is no change. A
// level has at least [LeastLevel] values, and a value may be infinite. One that comes and goes between equal levels is found later than one
// that stays: it needs about twelve values (circular segmentation finds it earlier, and one that
// stays later, for which a build waits). conf is the confidence of each interval, which does not
// take into account that the place was chosen.
//
// PELT, which [SteadyState] uses, was not taken: it has no such level, and calls two
// outliers side by side a change.
func Changes(series []float64, alpha, conf float64) []Change {
	x := make([]float64, len(series))
	for i, v := range series {
		x[i] = math.Log(v)
	}
	rng := rand.New(rand.NewPCG(uint64(len(x)), 1979)) // the same series gives the same answer
	var out []Change
	var split func(from, to int)
	split = func(from, to int) {
		at, p := largestStep(x[from:to], rng)
		if at == 0 || p > alpha {
			return
		}
		split(from, from+at)
		out = append(out, Change{At: from + at, P: p})
		split(from+at, to)
	}
	split(0, len(x))
	for i := range out {
		from, to := 0, len(x)
		if i > 0 {
			from = out[i-1].At
		}
		if i+1 < len(out) {
			to = out[i+1].At
		}
		c := &out[i]
		c.Ratio, c.Lo, c.Hi = rankShift(x[from:c.At], x[c.At:to], conf)
	}
	return out
}

// largestStep returns where the ranks of x differ most before and after, 0 if x is too short, and
// the probability of such a difference if the order is by chance.
func largestStep(x []float64, rng *rand.Rand) (at int, p float64) {
	n := len(x)
	if n < 2*LeastLevel {
		return 0, 1
	}
	ranks := ranksOf(x)
	step := func(ranks []float64) (at int, most float64) {
		sum, mean := 0.0, float64(n+1)/2
		for i, r := range ranks {
			sum += r - mean
			if t := i + 1; t >= LeastLevel && n-t >= LeastLevel {
				if z := math.Abs(sum) / math.Sqrt(float64(t)*float64(n-t)); z > most+1e-12 {
					at, most = t, z
				}
			}
		}
		return at, most
	}
	at, most := step(ranks)
	shuffled, reached := slices.Clone(ranks), 0
	for range shuffles {
		rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, m := step(shuffled); m >= most-1e-12 {
			reached++
		}
	}
	return at, float64(1+reached) / float64(1+shuffles)
}

// ranksOf returns the ranks of values from 1; equal values share the mean of theirs.
func ranksOf(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	ranks := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// rankShift returns the ratio of b to a, both logarithms, and its interval. Values may be infinite; two
// infinite ones are alike.
func rankShift(a, b []float64, conf float64) (ratio, lo, hi float64) {
	var differences []float64
	for _, v := range a {
		for _, w := range b {
			d := w - v
			if w == v {
				d = 0 // infinite ones, too
			}
			differences = append(differences, d)
		}
	}
	slices.Sort(differences)
	k := rankSumBelow(len(a), len(b), (1-conf)/2)
	if k < 0 {
		return math.Exp(Median(differences)), 0, math.Inf(1)
	}
	return math.Exp(Median(differences)), math.Exp(differences[k]), math.Exp(differences[len(differences)-1-k])
}

// exactRanks is the size of the smaller sample up to which rank sums are counted; the normal
// approximation serves beyond.
const exactRanks = 20

// rankSumBelow returns the largest k for which the rank-sum statistic U of samples of n and m
// values is below k+1 with a probability of at most tail; −1: not even for 0.
func rankSumBelow(n, m int, tail float64) int {
	if n > m {
		n, m = m, n
	}
	if n > exactRanks || m > 5*exactRanks {
		mean, sd := float64(n)*float64(m)/2, math.Sqrt(float64(n)*float64(m)*float64(n+m+1)/12)
		// P(U ≤ k) = Φ((k + 1/2 − mean)/sd)
		z := -math.Sqrt2 * math.Erfinv(1-2*tail)
		return int(math.Floor(mean - 0.5 + z*sd))
	}
	// The number of ways to choose n of the ranks 0 … n+m−1 with each sum.
	ways := make([][]float64, n+1)
	for i := range ways {
		ways[i] = make([]float64, n*m+1)
	}
	ways[0][0] = 1
	for r := range n + m {
		for i := min(n, r+1); i >= 1; i-- {
			// The i-th smallest chosen is r: it exceeds r−(i−1) of those not chosen.
			over := r - (i - 1)
			if over > m {
				continue
			}
			for u := n * m; u >= over; u-- {
				ways[i][u] += ways[i-1][u-over]
			}
		}
	}
	all, sum := 0.0, 0.0
	for _, w := range ways[n] {
		all += w
	}
	for u, w := range ways[n] {
		if sum += w; sum/all > tail {
			return u - 1
		}
	}
	return n * m
}
