package judge

import (
	"sixnines/internal/histograms"
	"sixnines/internal/stats"
	"sixnines/result"
)

// confidence is the confidence level of all intervals.
const confidence = 0.95

// episodesFrom is the percentile from which exceedances are counted as
// episodes.
const episodesFrom = 99

// Distribution computes the figures of one metric, ns. samples is the number of
// messages behind it, see [Samples].
//
// A percentile is the value of nearest rank over the resolved, the censored and
// the refused messages together. The censored rank above the resolved and the refused
// above all: a message that never came back was slower than all that did, and a refused
// one counts as slower than every latency. Where the rank falls among the refused, the
// figure is that of the slowest other message, and Refused says so. Where the rank falls
// among the censored, the figure is the value at that rank with the censored at their
// lower bounds, or a lower percentile's figure if that is larger, and AtLeast says so.
// A figure is the upper edge of its bucket (for a lower bound the lower edge), but never
// above the exact maximum.
//
// Support and intervals are computed for samples messages. With F deliveries of each
// message, the k-th smallest message has the ranks (k−1)·F+1 to k·F of the deliveries,
// and an interval reaches from the first rank of its lower message to the last rank of
// its upper one.
func Distribution(m result.Metric, x *result.Merged, samples int64) *result.Distribution {
	d := &result.Distribution{
		Count:    count(x),
		Censored: censored(x),
		Refusals: refused(x),
		Figures:  map[result.Percentile]result.Figure{},
		Samples:  samples,
	}
	o := newOrder(x)
	if d.Count > 0 {
		d.Min, d.Max = x.Min, x.Max
		// The mean is computed from the buckets' middles and may lie outside the exact extremes.
		d.Mean, d.StdDev = min(max(o.resolved.Mean(), float64(d.Min)), float64(d.Max)), o.resolved.StdDev()
	}
	if o.combined != nil {
		// An unresolved message has waited at least as long as its lower bound, so the
		// maximum is at least the largest bound.
		low, _ := o.combined.ValueAtRank(o.combined.Count())
		d.Max, d.MaxAtLeast = max(d.Max, low), true
	}
	if d.Refusals > 0 {
		d.MaxAtLeast, d.MaxRefused = true, true
		if d.Refusals < o.n {
			d.Succeeded = succeeded(m, x, samples)
		}
	}
	var floor int64 // the value of the next lower percentile
	for _, name := range result.Percentiles() {
		percent := percentOf(name)
		f := o.quantile(samples, percent, floor).figure(percent)
		if f.Needs == 0 {
			floor = f.Value
			if percent >= episodesFrom && len(x.Slots) > 0 {
				f.Episodes = episodes(x.Slots, f.Value)
			}
			if s, ok := sharesAround(x.Own, f.Value); ok && m.IsResponse() && !f.AtLeast {
				f.OwnShare = &s.own
				if s.known && s.received > 0 {
					f.ReceiveShare = &s.received
				}
			}
		}
		d.Figures[name] = f
	}
	return d
}

// succeeded returns the distribution of the messages that were not refused. Their number of
// samples is their share of all samples.
func succeeded(m result.Metric, x *result.Merged, samples int64) *result.Distribution {
	rest := *x
	rest.Refused, rest.RefusedAt, rest.Slots = 0, nil, nil
	n := total(&rest)
	return Distribution(m, &rest, min(max(scale(samples, n, total(x), total(x)/2), 1), n))
}

// quantile is the figure of one percentile.
type quantile struct {
	support   stats.Support
	value     int64
	atLeast   bool  // value is a lower bound
	refused   bool  // the rank is a refused message's; value is the slowest other message's
	low, high int64 // the interval, if bounded
	bounded   bool
	open      bool // high is a lower bound
	// lowRefused and openRefused say that the lower or upper end of the interval is a
	// refused message's. If the lower one is, the interval is left out.
	lowRefused, openRefused bool
}

// figure returns the percentile as summaries publish it.
func (q quantile) figure(percent float64) result.Figure {
	if q.support == stats.NotSupported {
		return result.Figure{Needs: stats.MinSamples(stats.Fraction(percent), confidence)}
	}
	f := result.Figure{Value: q.value, AtLeast: q.atLeast, Refused: q.refused, Few: q.support == stats.Few}
	if q.bounded {
		f.Interval = q.bounds()
	}
	return f
}

// bounds returns the interval.
func (q quantile) bounds() *result.Bounds {
	return &result.Bounds{Low: q.low, High: q.high, Open: q.open, OpenRefused: q.openRefused}
}

// quantile computes the figure of a percentile, 0 to 100, for a number of messages; floor is
// the figure of a lower percentile, or 0.
func (o *order) quantile(samples int64, percent float64, floor int64) quantile {
	p := stats.Fraction(percent)
	q := quantile{support: stats.SupportOf(samples, p)}
	if o.n == 0 {
		q.support = stats.NotSupported
	}
	if q.support == stats.NotSupported {
		return q
	}
	rank := stats.Rank(o.n, percent)
	q.value, q.atLeast = o.value(rank)
	q.value, q.refused = max(q.value, floor), o.isRefused(rank)
	var lo, hi int64
	if lo, hi, q.bounded = stats.QuantileRanks(samples, p, confidence); q.bounded {
		q.low, q.high, q.open = o.interval(lo, hi, samples, q.value)
		q.lowRefused, q.openRefused = o.refusedEnds(lo, hi, samples)
		q.bounded = !q.lowRefused
	}
	return q
}

// interval returns the interval between two ranks of a number of messages, widened to contain
// value. open says that high is only a lower bound.
func (o *order) interval(lo, hi, samples, value int64) (low, high int64, open bool) {
	low, _ = o.edges(scale(lo-1, o.n, samples, 0) + 1)
	high, open = o.value(scale(hi, o.n, samples, samples-1))
	return min(low, value), max(high, value), open
}

// refusedEnds reports which ends of that interval are refused messages'.
func (o *order) refusedEnds(lo, hi, samples int64) (low, high bool) {
	return o.isRefused(scale(lo-1, o.n, samples, 0) + 1), o.isRefused(scale(hi, o.n, samples, samples-1))
}

// percentOf returns the number that a percentile's name spells; it panics if it spells none.
func percentOf(name result.Percentile) float64 {
	v, ok := name.Number()
	if !ok {
		panic("judge: percentile " + string(name) + " is no number")
	}
	return v
}

// order gives the values at ranks of a metric: the censored rank above the resolved, and the
// refused above both.
type order struct {
	n        int64 // resolved, censored and refused
	answered int64 // resolved and censored
	min, max int64 // exact, of the resolved
	resolved *histograms.RankIndex
	combined *histograms.RankIndex // the censored at their lower bounds; nil without any
}

func newOrder(x *result.Merged) *order {
	o := &order{n: total(x), answered: count(x) + censored(x), min: x.Min, max: x.Max, resolved: histograms.RanksOf(x.Hist)}
	if censored(x) == 0 {
		return o
	}
	all := x.Censored
	if x.Hist != nil {
		all = x.Hist.Clone()
		all.Add(x.Censored)
	}
	o.combined = histograms.RanksOf(all)
	return o
}

// edges returns the edges, ns, of the bucket at a rank, clamped to the exact extremes. Among
// the censored they are those of the combined distribution, among the refused those of the
// slowest other message. Both are 0 if every message was refused.
func (o *order) edges(rank int64) (low, high int64) {
	if o.answered == 0 {
		return 0, 0
	}
	rank = min(max(rank, 1), o.answered)
	if rank > o.resolved.Count() {
		low, high = o.combined.ValueAtRank(rank)
		return low, high
	}
	low, high = o.resolved.ValueAtRank(rank)
	return max(low, o.min), min(high, o.max)
}

// value returns the figure at a rank and whether it is only a lower bound.
func (o *order) value(rank int64) (v int64, atLeast bool) {
	low, high := o.edges(rank)
	if min(rank, o.answered) > o.resolved.Count() {
		return low, true
	}
	return high, o.isRefused(rank)
}

// isRefused reports whether a rank is a refused message's.
func (o *order) isRefused(rank int64) bool { return min(rank, o.n) > o.answered }

// episodes counts the separate events behind the values above v: runs of adjacent slots
// with such a value. A slot without messages shows neither that an event went on nor that
// it ended, so it does not end one. The result is at least 1, because values above v that
// share its bucket look like v.
//
// Where more than half of the slots with messages exceed v, the exceedances are no events
// but the usual noise: at a high rate every slot has its share of the slowest hundredth.
// Each such slot then counts as one.
func episodes(slots []int64, v int64) int {
	n, above, filled, in := 0, 0, 0, false
	for _, s := range slots {
		if s == 0 {
			continue
		}
		filled++
		if s > v {
			above++
			if !in {
				n++
			}
		}
		in = s > v
	}
	if above > filled/2 && filled > 1 {
		n = above
	}
	return max(n, 1)
}

// shareSamples is how many messages an own-lag share should be computed from.
const shareSamples = 30

// lagShares are the shares, 0 to 1, that the generator's own lag in sending and its lag in
// receiving have in some values. known says that the latter is known of at least half of
// them: it is that of these alone.
type lagShares struct {
	own, received float64
	known         bool
}

// sharesAround returns the shares in the values around v: in v's band, widened on both sides
// until it holds shareSamples messages.
func sharesAround(own []result.OwnBand, v int64) (s lagShares, ok bool) {
	if len(own) == 0 {
		return s, false
	}
	b := histograms.BandOf(v)
	var sum result.OwnBand
	var answered float64 // Σ value, ns, of the messages whose receive lag is known
	add := func(i int) {
		if i < 0 || i >= len(own) || own[i].Count <= 0 {
			return
		}
		sum.Add(own[i])
		// The values of a band differ by an eighth at most, so their mean stands for each.
		answered += float64(own[i].Total) * float64(own[i].Count-own[i].Unknown) / float64(own[i].Count)
	}
	add(b)
	for d := 1; sum.Count < shareSamples && d < len(own); d++ {
		add(b - d)
		add(b + d)
	}
	if sum.Total <= 0 {
		return s, false
	}
	// Totals are sums of buckets' middles and own lag is exact, so that the
	// quotient may exceed 1 by the buckets' width.
	share := func(lag int64, of float64) float64 { return min(max(float64(lag)/of, 0), 1) }
	s = lagShares{own: share(sum.Own, float64(sum.Total)), known: 2*sum.Unknown <= sum.Count}
	if s.known && answered > 0 {
		s.received = share(sum.Received, answered)
	}
	return s, true
}
