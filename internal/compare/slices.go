package compare

import (
	"math"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// sliceLength is how long a slice is at least where both sides are loaded all the time. In turn it is a turn of each.
	sliceLength = 500 * time.Millisecond
	// mostSlices is the largest number of slices of all pairs: with more, neighbours are one slice.
	mostSlices = 600
)

// Slices is one percentile of both sides over the time of the pairs' windows, where both runs of a pair were made at the
// same time. It shows where a change comes from; nothing is decided by it, since slices of a window are not independent.
type Slices struct {
	Metric     result.Metric     `json:"metric"`
	Percentile result.Percentile `json:"percentile"`
	Length     time.Duration     `json:"length_ns"` // of a slice; the last one of a window may be shorter
	Pairs      []SlicedPair      `json:"pairs"`     // in the order of their numbers
}

// SlicedPair is the windows of a pair. A and B have a figure for each slice from the window's start, ns, to 0.3 %; 0: the slice has
// too few messages for it.
type SlicedPair struct {
	Pair    int     `json:"pair"`
	Control bool    `json:"control,omitempty"` // A is on both sides
	A       []int64 `json:"a"`
	B       []int64 `json:"b"`
}

// slice cuts the windows of pairs, and of pairs with A on both sides, into slices, for each judged percentile of
// 50, 90 and 99 for which slices have enough messages.
func (c *Comparison) slice(pairs, controls []couple) {
	if c.Beside == nil {
		return
	}
	all := orderedByPair(pairs, controls)
	for _, m := range c.Metrics {
		if !m.Judged {
			continue
		}
		length, n := sliceOf(all, m.Metric, max(c.Beside.Slice*2, sliceLength))
		for _, r := range m.Rows {
			if n == 0 || r.Percentile != result.P50 && r.Percentile != result.P90 && r.Percentile != result.P99 {
				continue
			}
			x := Slices{Metric: m.Metric, Percentile: r.Percentile, Length: length}
			known := false
			for _, p := range all {
				own := SlicedPair{Pair: p.number, Control: p.runs[0].Header.Trial.Control}
				own.A, own.B = slicesOf(p.runs[0], m.Metric, r.Percentile, length), slicesOf(p.runs[1], m.Metric, r.Percentile, length)
				known = known || own.eachRatio(func(float64) {}) > 0
				x.Pairs = append(x.Pairs, own)
			}
			if known {
				c.Slices = append(c.Slices, x)
			}
		}
	}
}

// orderedByPair merges two lists of pairs, each ordered by number.
func orderedByPair(a, b []couple) (all []couple) {
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].number < b[0].number {
			a, b = b, a
		}
		all, b = append(all, b[0]), b[1:]
	}
	return all
}

// sliceOf is the length of a slice, a multiple of least, so that all pairs have at most [mostSlices], and how many a pair has
// at most.
func sliceOf(pairs []couple, m result.Metric, least time.Duration) (length time.Duration, n int) {
	var longest time.Duration
	for _, p := range pairs {
		for _, r := range p.runs {
			blocks, each := r.Blocks(m)
			longest = max(longest, time.Duration(len(blocks)*each)*r.Header.Interval)
		}
	}
	for k := time.Duration(1); ; k++ {
		length = k * least
		if n = int((longest + length - 1) / length); n*len(pairs) <= mostSlices || n == 1 {
			return length, n
		}
	}
}

// slicesOf is a percentile of a run in each slice of its window. A message that was refused or is not answered counts where it
// was due, as slower than all others.
func slicesOf(r run, m result.Metric, percentile result.Percentile, length time.Duration) []int64 {
	blocks, each := r.Blocks(m)
	block := time.Duration(each) * r.Header.Interval
	if len(blocks) == 0 || block <= 0 {
		return []int64{}
	}
	at := func(from time.Duration) int { return max(0, int(from/length)) }
	out := make([]int64, at(time.Duration(len(blocks)-1)*block+block/2)+1)
	sums, beyond := make([]result.Block, len(out)), make([]int64, len(out))
	for i, b := range blocks {
		k := at(time.Duration(i)*block + block/2)
		sums[k] = sums[k].Join(b)
	}
	x := r.Metrics[m]
	share := 1.0 // messages per value: one that a thousand consumers get counts once
	if values := x.Hist.Count() + x.Refused + x.Censored.Count(); values > 0 {
		share = float64(judge.Samples(m, x, r.Counters)) / float64(values)
	}
	for _, list := range [][][2]int64{x.UnansweredAt, x.RefusedAt} {
		for _, s := range list {
			k := len(out) - 1 // of no known time: with the messages that came after the window
			if s[0] != result.UnknownSlot {
				k = min(k, at(time.Duration(s[0])*r.Header.Slot+r.Header.Slot/2))
			}
			beyond[k] += s[1]
		}
	}
	percent, _ := percentile.Number()
	q := stats.Fraction(percent)
	for k, b := range sums {
		n := b.Count() + beyond[k]
		rank := stats.Rank(n, percent)
		if stats.SupportOf(int64(float64(n)*share), q) == stats.NotSupported || rank > b.Count() {
			continue
		}
		out[k] = b.Quantile(float64(rank) / float64(b.Count()))
	}
	return out
}

// eachRatio calls f with the logarithm of B ÷ A of each slice that both sides have, and returns how many there are.
func (p *SlicedPair) eachRatio(f func(float64)) (n int) {
	for k := range min(len(p.A), len(p.B)) {
		if p.A[k] > 0 && p.B[k] > 0 {
			f(math.Log(float64(p.B[k]) / float64(p.A[k])))
			n++
		}
	}
	return n
}

// spread is the standard deviation of a slice's log ratio within its pair, over all pairs but those of the control; 0: no
// pair has two slices.
func (s *Slices) spread() float64 {
	var sq float64
	free := 0
	for _, p := range s.Pairs {
		if p.Control {
			continue
		}
		sum, own := 0.0, 0.0
		n := p.eachRatio(func(d float64) { sum, own = sum+d, own+d*d })
		if n > 1 {
			sq, free = sq+max(0, own-sum*sum/float64(n)), free+n-1
		}
	}
	if free == 0 {
		return 0
	}
	return math.Sqrt(sq / float64(free))
}
