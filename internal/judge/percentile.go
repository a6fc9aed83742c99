package judge

import (
	"sixnines/internal/stats"
	"sixnines/result"
)

// Percentile is the figure of any percentile of a metric, computed like those that
// summaries publish. All values are ns.
type Percentile struct {
	Value int64
	// Low and High are its 95 % interval, if Bounded.
	Low, High int64
	Bounded   bool
	// AtLeast says that Value is a lower bound, Open that High is, because unresolved
	// or refused messages reach it.
	AtLeast, Open bool
	Refused       bool  // the rank is a refused message's; Value is the slowest other message's
	Needs         int64 // above 0: the figure is missing and needs this many messages
}

// PercentileOf returns a percentile, 0 to 100, of a metric with that many messages as samples.
func PercentileOf(x *result.Merged, samples int64, percent float64) Percentile {
	q := newOrder(x).quantile(samples, percent, 0)
	if q.support == stats.NotSupported {
		return Percentile{Needs: stats.MinSamples(stats.Fraction(percent), confidence)}
	}
	return Percentile{Value: q.value, Low: q.low, High: q.high, Bounded: q.bounded, AtLeast: q.atLeast, Open: q.open, Refused: q.refused}
}
