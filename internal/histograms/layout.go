package histograms

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// HighestCounted returns the largest value that h can count: the upper edge of
// its last bucket, which lies at or above HighestTrackableValue. Recorders
// record larger values there.
func HighestCounted(h *hdrhistogram.Histogram) int64 {
	g := hdrGeometryOf(h)
	_, high := g.edges(int(g.counts() - 1))
	return high
}

// Laid is a histogram of whatever type with its range and digits, such as package result's.
type Laid interface {
	Counted
	Layout() (lowest, highest int64, digits int)
}

// Of returns h as the library's type.
func Of(h Laid) *hdrhistogram.Histogram {
	c := hdrhistogram.New(h.Layout())
	h.Buckets(func(_, high, n int64) { _ = c.RecordValues(high, n) }) // a bucket of the same layout: cannot fail
	return c
}

// Fits reports whether h has the same buckets as the counts.
func (c *Counts) Fits(h *hdrhistogram.Histogram) bool {
	return h.LowestTrackableValue() == c.lowest && h.HighestTrackableValue() == c.highest && h.SignificantFigures() == c.Digits
}

// Layout describes the range and the digits of the counts, for error messages.
func (c *Counts) Layout() string { return layout(c.lowest, c.highest, c.Digits) }

// Layout describes the range and the digits of h, for error messages.
func Layout(h *hdrhistogram.Histogram) string {
	return layout(h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures())
}

func layout(lowest, highest, digits int64) string {
	return fmt.Sprintf("%d to %d ns at %d digits", lowest, highest, digits)
}
