package result

import (
	"fmt"

	"sixnines/internal/histograms"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts values, ns, in buckets whose width is a fixed share of their value. A nil
// Histogram has no values. It is not safe for concurrent use while it is changed.
type Histogram struct{ counts *hdr.Histogram }

// NewHistogram returns a histogram without values that counts values from lowest to highest with
// a number of significant decimal digits, 1 to 5.
func NewHistogram(lowest, highest int64, digits int) *Histogram {
	return &Histogram{hdr.New(lowest, highest, digits)}
}

// Layout returns the arguments that NewHistogram was called with.
func (h *Histogram) Layout() (lowest, highest int64, digits int) {
	return h.counts.LowestTrackableValue(), h.counts.HighestTrackableValue(), int(h.counts.SignificantFigures())
}

// Record adds n values of v. It fails if v is higher than the highest bucket.
func (h *Histogram) Record(v, n int64) error {
	if err := h.counts.RecordValues(v, n); err != nil {
		return fmt.Errorf("record %d ns: %w", v, err)
	}
	return nil
}

// Add adds the values of o. Values that are higher than h's highest bucket count in it.
func (h *Histogram) Add(o *Histogram) {
	top := histograms.HighestCounted(h.counts)
	o.Buckets(func(_, high, n int64) {
		_ = h.counts.RecordValues(min(high, top), n) // in range: cannot fail
	})
}

// Clone returns a copy.
func (h *Histogram) Clone() *Histogram {
	c := NewHistogram(h.Layout())
	c.counts.Merge(h.counts)
	return c
}

// Count returns the number of values.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.counts.TotalCount()
}

// Min returns the lower edge of the lowest bucket that has values; 0 without values.
func (h *Histogram) Min() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts.Min()
}

// Max returns the upper edge of the highest bucket that has values; 0 without values.
func (h *Histogram) Max() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts.Max()
}

// Mean returns the mean with each value taken at the middle of its bucket; 0 without values.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts.Mean()
}

// Percentile returns the value of rank ceil(percent/100 · n), as the upper edge of its bucket; 0
// without values. percent is the decimal number that people write, such as 99.9.
func (h *Histogram) Percentile(percent float64) int64 {
	return histograms.RanksOf(h).Percentile(percent)
}

// Buckets calls visit with the edges, both inclusive, and the count of each bucket that has
// values, in ascending order.
func (h *Histogram) Buckets(visit func(low, high, n int64)) {
	if h != nil {
		histograms.Visit(h.counts, visit)
	}
}
