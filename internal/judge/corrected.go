package judge

import (
	"sort"

	"sixnines/internal/stats"
	"sixnines/result"
)

// Corrected returns the resolved values of a metric with what HdrHistogram's
// correction for an expected interval, ns, adds to them; nil where there are none. It
// is computed as Histogram.copyCorrectedForCoordinatedOmission does: each value counts
// as the greatest of its bucket.
func Corrected(x *result.Merged, interval int64) *result.Merged {
	if x == nil || count(x) == 0 || interval <= 0 {
		return nil
	}
	h := x.Hist.Clone()
	bars := x.Hist.Distribution() // of all buckets up to the largest value
	low := func(v int64) int64 {
		return bars[sort.Search(len(bars), func(i int) bool { return bars[i].To >= v })].From
	}
	whole := true
	for _, b := range bars {
		if b.Count > 0 {
			stats.Expected(b.To, interval, low, func(v, n int64) {
				whole = whole && h.RecordValues(v, n*b.Count) == nil
			})
		}
	}
	if !whole {
		return nil // more values than can be counted: no schedule has such an interval
	}
	return &result.Merged{Hist: h, Min: min(x.Min, h.Min()), Max: x.Max}
}

// setCorrected adds to the summary the correction of the service time for which
// synchronous producers wait.
func setCorrected(run *result.Run, s *result.Summary) {
	y := run.Header.Synchronous
	if y == nil || s.Histograms[y.Metric] == nil {
		return
	}
	x := run.Metrics[y.Metric]
	more := Corrected(x, y.Interval)
	if more == nil {
		return
	}
	// What was added is no sample, so the messages decide what is supported. An
	// interval would say how sure it is, which cannot be said of values that were made up.
	d := Distribution(y.Metric, more, count(x))
	clear(d.Intervals)
	d.Open, d.Episodes = nil, nil
	s.Histograms[y.Metric].Corrected = d
}
