package result

import (
	"math"
	"slices"
	"sort"

	"sixnines/internal/histograms"
)

// Block is the histogram of one metric in one part of the measured window: one interval or, in
// long runs, 2, 4, 8, … of them. Values resolved after the window belong to the last block. It is
// for resampling, and coarser than an interval's histogram: the slowest tenth of an interval is
// exact to 0.3 %, the others to 1 %, and a value stands for all that are lower by less than that.
// Methods but Above are safe for concurrent use.
type Block struct {
	count   int64
	buckets []uint16 // values of the grid, ascending, of non-empty buckets only
	counts  []uint32 // of each bucket, saturating
	above   []int64  // counts from each bucket on; computed by the first call of Above
}

// Count returns how many values the block has.
func (b *Block) Count() int64 { return b.count }

// Above returns how many values are above ns, rounded up to the block's resolution. It is not
// safe for concurrent use: the first call stores sums.
func (b *Block) Above(ns int64) int64 {
	if b.above == nil {
		b.above = make([]int64, len(b.buckets)+1)
		for i := len(b.counts) - 1; i >= 0; i-- {
			b.above[i] = b.above[i+1] + int64(b.counts[i])
		}
	}
	v := histograms.BlockValueOf(ns)
	return b.above[sort.Search(len(b.buckets), func(i int) bool { return int(b.buckets[i]) > v })]
}

// Quantile returns the q-quantile of the block by nearest rank, in ns, 0 < q ≤ 1;
// 0 for an empty block.
func (b *Block) Quantile(q float64) int64 {
	rank := int64(math.Ceil(q * float64(b.count)))
	for i, n := range b.counts {
		if rank -= int64(n); rank <= 0 {
			return histograms.BlockValue(int(b.buckets[i]))
		}
	}
	return 0
}

// blockOf returns the block of an interval's values. If fine, it uses the whole
// grid for all values, not only for the slowest tenth.
func blockOf(x *histograms.RankIndex, fine bool) Block {
	body := x.Count() - x.Count()/10
	if fine {
		body = 0
	}
	b := Block{count: x.Count()}
	var upTo int64
	x.Buckets(func(_, high, n int64) {
		v := histograms.BlockValueOf(high)
		if upTo += n; upTo <= body {
			v = histograms.CoarseCeiling(v) // never better than it was
		}
		b.put(uint16(v), n)
	})
	return b
}

// With returns the block with n further values of ns nanoseconds, and does not change it.
func (b Block) With(ns, n int64) Block {
	more := Block{count: n}
	more.put(uint16(histograms.BlockValueOf(ns)), n)
	return b.Join(more)
}

// put adds n values to bucket v, or to the last bucket if that is higher.
func (b *Block) put(v uint16, n int64) {
	last := len(b.buckets) - 1
	if last >= 0 && v <= b.buckets[last] {
		b.counts[last] = saturated(int64(b.counts[last]) + n)
		return
	}
	b.buckets, b.counts = append(b.buckets, v), append(b.counts, saturated(n))
}

func saturated(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// Join returns the sum of both blocks and does not change them.
func (a Block) Join(b Block) Block {
	if a.count == 0 {
		return b
	}
	if b.count == 0 {
		return a
	}
	sum := Block{count: a.count + b.count,
		buckets: make([]uint16, 0, len(a.buckets)+len(b.buckets)), counts: make([]uint32, 0, len(a.buckets)+len(b.buckets))}
	for i, k := 0, 0; i < len(a.buckets) || k < len(b.buckets); {
		if k == len(b.buckets) || i < len(a.buckets) && a.buckets[i] <= b.buckets[k] {
			sum.put(a.buckets[i], int64(a.counts[i]))
			i++
			continue
		}
		sum.put(b.buckets[k], int64(b.counts[k]))
		k++
	}
	sum.buckets, sum.counts = slices.Clip(sum.buckets), slices.Clip(sum.counts)
	return sum
}
