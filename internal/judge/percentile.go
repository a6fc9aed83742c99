package judge

import "sixnines/result"

// PercentileOf returns a percentile, 0 to 100, of a metric with that many messages as samples,
// computed like those that summaries publish.
func PercentileOf(x *result.Merged, samples int64, percent float64) result.Figure {
	return newOrder(x).quantile(samples, percent, 0).figure(percent)
}
