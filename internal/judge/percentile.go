package judge

import (
	"sixnines/internal/stats"
	"sixnines/result"
)

// Percentile is the figure of any percentile of a metric, by the rules of those that
// summaries publish. All values are ns.
type Percentile struct {
	Value int64
	// Low and High are its 95 % interval, if Bounded.
	Low, High int64
	Bounded   bool
	// AtLeast says that Value is a lower bound, Open that High is: messages reach it
	// that were not resolved, or were refused.
	AtLeast, Open bool
	Refused       bool  // Value is that of a refused message: there is none
	Needs         int64 // messages that it takes; above 0: there is no figure
}

// PercentileOf returns a percentile, 0 to 100, of a metric of so many messages.
func PercentileOf(x *result.Merged, samples int64, percent float64) Percentile {
	q := newOrder(x).quantile(samples, percent, 0)
	if q.support == stats.NotSupported {
		return Percentile{Needs: stats.MinSamples(stats.Fraction(percent), confidence)}
	}
	return Percentile{Value: q.value, Low: q.low, High: q.high, Bounded: q.bounded, AtLeast: q.atLeast, Open: q.open, Refused: q.refused}
}
