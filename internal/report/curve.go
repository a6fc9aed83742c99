package report

import (
	"math"

	"sixnines/internal/histograms"
	"sixnines/internal/stats"
	"sixnines/result"
)

// curveSteps is the number of points of a percentile curve for each factor of
// ten in 1/(1−p).
const curveSteps = 24

// curveLead is the number of points within the first step.
const curveLead = 5

// percentileCurve draws a metric over log10(1/(1−p)), from the smallest value
// up to the highest percentile that the number of messages supports. The band
// holds each single percentile with 95 % confidence. It is the zero line if there is
// nothing to draw. The curve ends where refused messages begin, which are slower than
// any value.
func percentileCurve(m *result.Merged, d *result.Distribution) line {
	var l line
	if m == nil || m.Hist == nil {
		return l
	}
	x := newOrder(m)
	n := x.count()
	if n == x.refused {
		return l
	}
	// The messages behind the values: a message delivered to a thousand
	// consumers is one sample.
	samples := n
	if d != nil && d.Samples > 0 {
		samples = min(n, d.Samples)
	}
	scaled := float64(n) / float64(samples)
	limit := supportLimit(samples)
	for k := 0; ; k++ {
		at := curvePoint(k)
		last := at >= limit
		if last {
			at = limit
		}
		q := 1 - math.Pow(10, -at)
		if int64(math.Ceil(q*float64(n)*(1-1e-15))) > n-x.refused {
			return l
		}
		low, value := x.at(int64(math.Ceil(q * float64(n) * (1 - 1e-15))))
		high := value
		if from, to, ok := stats.QuantileRanks(samples, q, 0.95); ok {
			low, _ = x.at(int64(float64(from-1)*scaled) + 1)
			_, high = x.at(int64(math.Ceil(float64(to) * scaled)))
		}
		l.X = append(l.X, at)
		l.Y = append(l.Y, logOf(value))
		l.Lo = append(l.Lo, logOf(min(low, value)))
		l.Hi = append(l.Hi, logOf(max(high, value)))
		if last {
			return l
		}
	}
}

// curvePoint returns the coordinate of the k-th point. Steps are even, except the first,
// where the curve is steepest: it is halved repeatedly towards zero.
func curvePoint(k int) float64 {
	switch {
	case k == 0:
		return 0
	case k <= curveLead:
		return math.Exp2(float64(k-curveLead-1)) / curveSteps
	}
	return float64(k-curveLead) / curveSteps
}

// order finds ranks among resolved and censored messages together, as summaries do.
// Censored messages rank above all resolved ones, since a message that never came back
// was slower; for a rank among them the answer is their lower bound.
type order struct {
	resolved, all *histograms.RankIndex
	refused       int64 // rank above all others
}

func newOrder(m *result.Merged) order {
	o := order{resolved: histograms.RanksOf(m.Hist), refused: m.Refused}
	o.all = o.resolved
	if all := withCensored(m); all != m.Hist {
		o.all = histograms.RanksOf(all)
	}
	return o
}

func (o order) count() int64 { return o.all.Count() + o.refused }

// at returns the edges of the bucket of a rank; for a rank among refused messages, those of
// the slowest other message.
func (o order) at(rank int64) (low, high int64) {
	rank = min(rank, o.all.Count())
	if rank <= o.resolved.Count() {
		return o.resolved.ValueAtRank(rank)
	}
	low, high = o.all.ValueAtRank(rank)
	return max(low, o.resolved.Min()), max(high, o.resolved.Max())
}

// withCensored returns the histogram with the lower bounds of the unresolved messages;
// the histogram itself if every message was resolved.
func withCensored(m *result.Merged) *result.Histogram {
	if m.Censored.Count() == 0 {
		return m.Hist
	}
	lowest, highest, digits := m.Hist.Layout()
	_, bounds, _ := m.Censored.Layout()
	all := result.NewHistogram(lowest, max(highest, bounds), digits)
	all.Add(m.Hist)
	all.Add(m.Censored)
	return all
}

// supportLimit returns log10(1/(1−p)) of the highest percentile whose 95 % interval has
// two finite ends with n values: n ≥ ln 0.025 / ln p.
func supportLimit(n int64) float64 {
	p := math.Exp(math.Log(0.025) / float64(n))
	// Slightly below, since rounding must not break the rule when it is applied to p.
	return max(0, -math.Log10(1-p)-1e-9)
}

// logOf returns log10 of a duration, ns; durations below a nanosecond count as one.
func logOf(ns int64) float64 { return math.Log10(float64(max(ns, 1))) }

// densityBins is the number of bins of a histogram picture for each factor of
// ten.
const densityBins = 20

// densityCurve draws how many messages had which latency, in bins of equal
// width on a logarithmic axis. Counts are per bin and logarithmic, so that the few
// messages of the tail are visible.
func densityCurve(m *result.Merged) line {
	l := line{Steps: true}
	if m == nil || m.Hist == nil {
		return l
	}
	counts := map[int]float64{}
	lowest, highest := math.MaxInt, math.MinInt
	withCensored(m).Buckets(func(low, high, n int64) {
		b := int(math.Floor((logOf(low) + logOf(high)) / 2 * densityBins))
		counts[b] += float64(n)
		lowest, highest = min(lowest, b), max(highest, b)
	})
	if lowest > highest {
		return l
	}
	for b := lowest; b <= highest+1; b++ {
		y := -0.3 // below one message
		if c := counts[b]; c > 0 {
			y = math.Log10(c)
		}
		l.X = append(l.X, float64(b)/densityBins)
		l.Y = append(l.Y, y)
	}
	return l
}
