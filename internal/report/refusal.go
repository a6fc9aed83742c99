package report

import (
	"math"
	"slices"
	"time"

	"sixnines/result"
)

// refusal is a stretch of time, in seconds from the window's start, and how many
// of a metric's messages were refused in it.
type refusal struct {
	from, to float64
	count    float64
}

// mostRefused is the metric of a run that has the most refused messages, the
// first of several; one without any if no metric has them.
func mostRefused(r *result.Run) *result.Merged {
	most := &result.Merged{}
	for _, m := range result.Metrics() {
		if x := r.Metrics[m]; x != nil && x.Refused > most.Refused {
			most = x
		}
	}
	return most
}

// refusals returns when messages of a metric were refused, in order: the slots in
// which they were due, since a refused message is slow from then on. If no slot is
// known, for unpaced loads and in old files, it returns the intervals in which they
// were refused, which count messages and not deliveries.
func refusals(r *result.Run, x *result.Merged) []refusal {
	var out []refusal
	slot := r.Header.Slot.Seconds()
	for _, p := range x.RefusedAt {
		if p[0] != result.UnknownSlot {
			out = append(out, refusal{float64(p[0]) * slot, float64(p[0]+1) * slot, float64(p[1])})
		}
	}
	if len(out) > 0 && slot > 0 {
		slices.SortFunc(out, func(a, b refusal) int { return int(math.Copysign(1, a.from-b.from)) })
		return out
	}
	out = nil
	total := int64(0)
	for _, p := range r.Series {
		if n := p.Counters.Rejected + p.Counters.Nacked; n > 0 && p.End > p.Start {
			total += n
			out = append(out, refusal{time.Duration(p.Start).Seconds(), time.Duration(p.End).Seconds(), float64(n)})
		}
	}
	for i := range out {
		out[i].count *= float64(x.Refused) / float64(total)
	}
	return out
}

// among returns how many were refused in each of the intervals, which are in
// order.
func among(points []result.Point, refused []refusal) []int64 {
	out := make([]int64, len(points))
	for i, p := range points {
		sum := 0.0
		for len(refused) > 0 && (refused[0].from+refused[0].to)/2 < time.Duration(p.End).Seconds() {
			sum += refused[0].count
			refused = refused[1:]
		}
		out[i] = int64(math.Round(sum))
	}
	return out
}

// behindRefused returns an interval's figures with n refused messages, which are slower
// than all others: figures that they reach become result.Refused.
func behindRefused(p result.PointMetric, n int64) result.PointMetric {
	if n == 0 {
		return p
	}
	all := p.Count + n
	for _, q := range []struct {
		share float64
		at    *int64
	}{{0, &p.Min}, {0.5, &p.P50}, {0.9, &p.P90}, {0.99, &p.P99}, {0.999, &p.P999}, {1, &p.Max}} {
		if rank := max(int64(math.Ceil(q.share*float64(all)*(1-1e-15))), 1); rank > p.Count {
			*q.at = result.Refused
		}
	}
	p.Count = all
	return p
}
