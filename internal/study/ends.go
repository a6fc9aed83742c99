package study

import (
	"math"
	"slices"

	"sixnines/internal/stats"
	"sixnines/result"
)

// atMost returns what the system's own percentile is at most, where the figure decides nothing for
// reasons that only lengthen: lag, steal, a broker without a processor, a value near the noise
// floor. A change of level is no such reason, since the level after it may be the lasting one; then
// it is the largest of the same percentile, or a higher one, in any interval of the run.
func (f *Figure) atMost(run *result.Run, m result.Metric, d *result.Distribution, text result.Percentile, percent float64, suspect bool) (known bool, most float64) {
	if f.Unfit == "" || f.AtLeast || f.Missing != "" {
		return false, 0
	}
	if !suspect {
		return nearFloor(d, text), f.Value
	}
	found := false
	most = f.Value
	for _, r := range run.Summary.Verdict.Reasons {
		from, ok := r.Percentile.Number()
		if reaches := (r.Metric == "" || r.Metric == m) && (!ok || from <= percent); !reaches || r.Status == result.Valid {
			continue
		}
		switch {
		case r.Status == result.Suspect && r.Code.Properties().Effect == result.EffectLonger:
		case r.Status == result.Suspect && r.Code == result.ReasonSteady:
			v, ok := worstInterval(run, m, d, percent)
			if !ok {
				return false, 0
			}
			most = max(most, v)
		default:
			return false, 0
		}
		found = true
	}
	return found, most
}

// worstInterval returns the largest value that a percentile, or the next higher one that intervals
// have, takes in any interval of the window; beyond p99.9 the run's maximum. ok is false if there
// are no intervals.
func worstInterval(run *result.Run, m result.Metric, d *result.Distribution, percent float64) (worst float64, ok bool) {
	if percent > 99.9 {
		return float64(d.Max), !d.MaxAtLeast && !d.MaxRefused
	}
	for i := range run.Series {
		p := &run.Series[i]
		x, there := p.Metrics[m]
		if p.Phase != result.PhaseMeasure || !there || x.Count == 0 {
			continue
		}
		v := x.P999
		switch {
		case percent <= 50:
			v = x.P50
		case percent <= 90:
			v = x.P90
		case percent <= 99:
			v = x.P99
		}
		worst, ok = max(worst, float64(v)), true
	}
	return worst, ok
}

// lengthened reports whether the figure can stand in a comparison with what it is at most. One near
// the noise floor cannot, since the other's figure has that noise, too; one whose level changed is
// compared as it is: that is how the system did.
func (f *Figure) lengthened() bool { return f.Longer && !f.Selects && !f.Unsteady }

// ends returns between which values the system's own figure of a round lies, whatever is not known
// of it. own asks for the interval within the run in place of the value.
func (f *Figure) ends(own bool) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	low, high := f.Value, f.Value
	if own || f.Range {
		if low, high = least, most; f.Bounded {
			low, high = f.Low, f.High
		}
	}
	switch {
	case f.Missing != "":
	case f.Unfit == "":
		least, most = low, high
	case f.Longer:
		most = max(high, f.Most)
	case f.AtLeast && f.Unfit == lowerBound:
		least = low
	}
	return least, most
}

// within returns between which values the median of a cell's rounds lies, with [Confidence], whatever
// is not known of some of them: unknown rounds have no figure. With fewer than six rounds it is where
// the own intervals of all of them lie. An end that is not known is infinite.
func within(figures map[int]Figure, unknown int) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	n := len(figures) + unknown
	low, high := slices.Repeat([]float64{least}, unknown), slices.Repeat([]float64{most}, unknown)
	for _, f := range figures {
		l, h := f.ends(n < LeastRounds)
		low, high = append(low, l), append(high, h)
	}
	slices.Sort(low)
	slices.Sort(high)
	if n < LeastRounds {
		if n >= leastRuns {
			return low[0], high[n-1]
		}
		return least, most
	}
	first, last, ok := stats.QuantileRanks(int64(n), 0.5, Confidence)
	if !ok {
		return least, most
	}
	return low[first-1], high[last-1]
}
