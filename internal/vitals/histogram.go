package vitals

import (
	"math"
	"sync/atomic"

	"sixnines/internal/loglinear"
	"sixnines/internal/stats"
)

const (
	// grid sets the resolution: a bucket is at most 1/128 of its values wide.
	grid loglinear.Grid = 7
	// topBits sets the range: values up to 2^topBits − 1 ns, 2.4 hours.
	topBits = 43
	buckets = int(topBits-grid+1) << grid
)

// histogram counts durations in ns in log-linear buckets. One goroutine
// records, and one other may read through a [window] at the same time; neither
// waits for the other. The counts only grow, and the reader takes differences,
// so no count is lost.
type histogram struct {
	counts [buckets]atomic.Uint64
	max    atomic.Int64 // since the last advance of the reader
}

// bucketOf returns the index of v's bucket. Negative values count as 0, values
// beyond the range as its end.
func bucketOf(v int64) int { return grid.Index(min(max(v, 0), 1<<topBits-1)) }

// record counts v.
func (h *histogram) record(v int64) {
	h.counts[bucketOf(v)].Add(1)
	for { // the reader may reset the maximum in between
		old := h.max.Load()
		if v <= old || h.max.CompareAndSwap(old, v) {
			return
		}
	}
}

// recordCorrected counts v and, if v is longer than the interval between
// records, the records that would have been made meanwhile. The number of
// buckets bounds its cost: an hour's suspension must not delay the meter itself.
func (h *histogram) recordCorrected(v, interval int64) {
	h.record(v)
	stats.Expected(v, interval, func(x int64) int64 { return grid.Floor(bucketOf(x)) },
		func(x, n int64) { h.counts[bucketOf(x)].Add(uint64(n)) })
}

// window reads a histogram one interval at a time. Not safe for concurrent use.
type window struct {
	previous, current [buckets]uint64
	count             uint64
	max               int64
}

// advance ends the interval: what was recorded since the last call becomes
// the values of quantile and max.
func (w *window) advance(h *histogram) {
	w.count = 0
	for i := range h.counts {
		now := h.counts[i].Load()
		w.current[i] = now - w.previous[i]
		w.previous[i] = now
		w.count += w.current[i]
	}
	w.max = h.max.Swap(0)
}

// quantile returns the nearest-rank q-quantile as the largest value of its
// bucket, 0 < q ≤ 1; 0 if the interval has no records.
func (w *window) quantile(q float64) int64 {
	rank := max(1, uint64(math.Ceil(q*float64(w.count))))
	var seen uint64
	for i, n := range w.current {
		if seen += n; n > 0 && seen >= rank {
			return grid.Ceiling(i)
		}
	}
	return 0
}
