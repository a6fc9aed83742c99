package result

import hdr "github.com/HdrHistogram/hdrhistogram-go"

// Second is a stretch of the measured window of about a second or, where
// intervals are longer, one of those: what is resolved in it is enough for
// percentiles of its own. Shorter intervals are put together by adding their
// histograms, so that its percentiles are those of all their values.
type Second struct {
	Start, End int64
	Metrics    map[Metric]PointMetric // those with values
}

// wholeSecond is what intervals must add up to for a Second, ns: their ends
// jitter.
const wholeSecond = 990e6

// seconds is a run's second that is not over yet.
type seconds struct {
	start  int64
	begun  bool
	hists  map[Metric]*hdr.Histogram
	bounds map[Metric][2]int64 // exact extremes
}

// values is one metric of one interval, decoded.
type values struct {
	hist     *hdr.Histogram
	index    *RankIndex // of hist
	min, max int64      // exact
}

// addSecond adds an interval of the measured window. Where intervals are whole
// seconds nothing is computed twice: the point's figures are the second's.
func (r *Run) addSecond(p *Point, shares map[Metric]values) {
	s := &r.unfinished
	long := float64(p.End-p.Start) >= wholeSecond
	if long && !s.begun {
		r.Seconds = append(r.Seconds, Second{Start: p.Start, End: p.End, Metrics: p.Metrics})
		return
	}
	if !s.begun {
		s.begun, s.start = true, p.Start
		s.hists, s.bounds = map[Metric]*hdr.Histogram{}, map[Metric][2]int64{}
	}
	for m, v := range shares {
		if h := s.hists[m]; h == nil {
			s.hists[m], s.bounds[m] = v.hist.Clone(), [2]int64{v.min, v.max}
		} else {
			h.Merge(v.hist) // the geometry is the same, of which Merged.fits made sure
			b := s.bounds[m]
			s.bounds[m] = [2]int64{min(b[0], v.min), max(b[1], v.max)}
		}
	}
	if float64(p.End-s.start) < wholeSecond {
		return
	}
	second := Second{Start: s.start, End: p.End, Metrics: make(map[Metric]PointMetric, len(s.hists))}
	for m, h := range s.hists {
		second.Metrics[m] = pointOf(NewRankIndex(h), s.bounds[m][0], s.bounds[m][1])
	}
	r.Seconds = append(r.Seconds, second)
	*s = seconds{}
}

// pointOf reduces a histogram to its figures. A bucket's upper edge may exceed
// the largest value in it, which is known exactly.
func pointOf(index *RankIndex, low, high int64) PointMetric {
	at := func(percent float64) int64 { return min(index.Percentile(percent), high) }
	return PointMetric{Count: index.Count(), Min: low, Max: high, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9)}
}
