package judge

import (
	"sort"

	"sixnines/internal/histograms"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Corrected returns the resolved values of a metric together with the values that
// HdrHistogram's correction for an expected interval, ns, adds. It computes them like
// Histogram.copyCorrectedForCoordinatedOmission: each value counts as the greatest of its
// bucket. The result is nil if the metric has no values, if the interval is not above 0, or
// if the histogram cannot hold the added values.
func Corrected(x *result.Merged, interval int64) *result.Merged {
	if x == nil || count(x) == 0 || interval <= 0 {
		return nil
	}
	h := x.Hist.Clone()
	bars := histograms.Of(x.Hist).Distribution() // of all buckets up to the largest value
	low := func(v int64) int64 {
		return bars[sort.Search(len(bars), func(i int) bool { return bars[i].To >= v })].From
	}
	whole := true
	for _, b := range bars {
		if b.Count > 0 {
			stats.Expected(b.To, interval, low, func(v, n int64) {
				whole = whole && h.Record(v, n*b.Count) == nil
			})
		}
	}
	if !whole {
		return nil // the counts overflow; no real schedule has so short an interval
	}
	return &result.Merged{Hist: h, Min: min(x.Min, h.Min()), Max: x.Max}
}

// setCorrected adds to the summary the corrected distribution of the service time that
// synchronous producers wait for.
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
	// Added values are no samples, so the number of messages decides which percentiles are
	// supported. Confidence intervals and episodes have no meaning for added values.
	d := Distribution(y.Metric, more, count(x))
	for name, f := range d.Figures {
		f.Interval, f.Episodes = nil, 0
		d.Figures[name] = f
	}
	s.Histograms[y.Metric].Corrected = d
}
