package stats

import "math"

// segment is a part of a series, [from, to), with its mean and standard
// deviation.
type segment struct {
	from, to int
	mean, sd float64
}

// shortest is the smallest number of values that a segment may have.
const shortest = 5

// changePoints splits x where its mean or its variance changes: the split of
// least cost by PELT (Killick, Fearnhead and Eckley, J. Am. Stat. Assoc. 107,
// 2012), where a segment costs its normal deviance and each change penalty.
// floor is the standard deviation of the measurement's resolution, which is the least that
// a segment counts with. Time grows with the square of len(x) if nothing changes.
func changePoints(x []float64, penalty, floor float64) []segment {
	n := len(x)
	sums, squares := make([]float64, n+1), make([]float64, n+1)
	for i, v := range x {
		sums[i+1], squares[i+1] = sums[i]+v, squares[i]+v*v
	}
	moments := func(from, to int) (mean, variance float64) {
		m := float64(to - from)
		mean = (sums[to] - sums[from]) / m
		return mean, max(0, (squares[to]-squares[from])/m-mean*mean)
	}
	cost := func(from, to int) float64 {
		_, v := moments(from, to)
		return float64(to-from) * (math.Log(max(v, floor*floor)) + 1)
	}
	best := make([]float64, n+1) // least cost of x[:i]
	last := make([]int, n+1)     // where its last segment begins
	until := make([]int, n+1)    // end from which on a candidate is useless; 0: not known
	best[0] = -penalty
	for i := 1; i <= n; i++ {
		best[i] = math.Inf(1)
	}
	candidates := []int{0}
	for i := shortest; i <= n; i++ {
		for _, from := range candidates {
			if i-from < shortest {
				continue
			}
			if c := best[from] + cost(from, i) + penalty; c < best[i] {
				best[i], last[i] = c, from
			}
		}
		kept := candidates[:0]
		for _, from := range candidates {
			// A candidate too close to i to be judged stays. One that is worse than a
			// new segment at i stays worse, but that segment ends at i+shortest at
			// the earliest, so the candidate is needed until then.
			if i-from >= shortest && until[from] == 0 && best[from]+cost(from, i) > best[i] {
				until[from] = i + shortest
			}
			if until[from] == 0 || i+1 < until[from] {
				kept = append(kept, from)
			}
		}
		candidates = append(kept, i-shortest+1)
		if c := candidates[len(candidates)-1]; math.IsInf(best[c], 1) {
			candidates = candidates[:len(candidates)-1] // no split ends there
		}
	}
	var reversed []segment
	for to := n; to > 0; to = last[to] {
		s := segment{from: last[to], to: to}
		var v float64
		s.mean, v = moments(s.from, s.to)
		s.sd = math.Sqrt(v)
		reversed = append(reversed, s)
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}
