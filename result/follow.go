package result

import "sixnines/internal/histograms"

// Follow adds one metric of an interval to a run that holds nothing else, as
// [Run.Add] does, but from its buckets instead of its text: decoding a histogram
// for every interval would produce garbage to collect while the load goes on. The
// run's Metrics must have the metric, with an empty histogram of the buckets'
// geometry; buckets calls visit as [Histogram.Buckets] does. Follow leaves out what only charts over time need.
func (r *Run) Follow(m Metric, v *Interval, buckets func(visit func(low, high, n int64))) error {
	r.Counters.Add(v.Counters)
	part, ranks := v.Metrics[m], histograms.RanksIn(buckets)
	if part == nil || ranks.Count() == 0 {
		r.addBlocks(v.Phase, nil)
		return nil
	}
	x := r.Metrics[m]
	if x.Hist.Count() == 0 {
		x.Min, x.Max = part.Min, part.Max
	}
	x.Min, x.Max = min(x.Min, part.Min), max(x.Max, part.Max)
	var failed error
	ranks.Buckets(func(_, high, n int64) {
		if err := x.Hist.Record(high, n); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return failed
	}
	slots := int64(0)
	if m.IsResponse() {
		slots = r.Header.slots()
	}
	if err := x.addSlots(part.Slots, slots); err != nil {
		return err
	}
	r.addBlocks(v.Phase, map[Metric]values{m: {index: ranks}})
	return nil
}
