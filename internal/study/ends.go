package study

import (
	"cmp"
	"math"
	"slices"

	"sixnines/internal/judge"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/semantics"
)

// reaching returns the reasons that make a percentile of a metric suspect or invalid.
func reaching(v result.Verdict, m result.Metric, percent float64) (all []result.Reason) {
	for _, r := range v.Reasons {
		from, ok := r.Percentile.Number()
		if reaches := (r.Metric == "" || r.Metric == m) && (!ok || from <= percent); reaches && r.Status != result.Valid {
			all = append(all, r)
		}
	}
	return all
}

// cause says in words what the first of the reasons is, without its numbers, which differ from round to
// round; empty without any. The trials have the others.
func cause(all []result.Reason) string {
	if len(all) == 0 {
		return ""
	}
	return cmp.Or(all[0].Code.Properties().Brief, all[0].Short())
}

// judgedBeside reports whether a finding is held against the latency that it is in. The same delay then
// makes the figure of a faster system suspect and not that of a slower one, so that leaving out such
// rounds would select the others by their figures.
func judgedBeside(r result.Reason) bool {
	switch r.Code {
	case result.ReasonOwnLag, result.ReasonReceiveLag, result.ReasonGeneratorShare, result.ReasonSelfInflicted, result.ReasonAttribution, result.ReasonProbe, result.ReasonWarmUp:
		return true
	}
	return false
}

// bound sets between which values the system's own percentile lies, where the figure decides nothing.
//
// It is at most what was measured if the reasons only lengthen: lag, steal, a broker without a
// processor, a value near the noise floor; so much holds of a percentile that is INVALID for them,
// too. It is at least what is left when lag is taken off, if
// lag is the only reason, see [leastBesideLag], or when all that pauses took of the window is, if these are,
// see [taken]: no message waited longer for them. A change of level is neither, since the level
// before or after it may be the lasting one: then the percentile lies between the smallest and
// the largest of it, or of its published neighbour, in any interval of the run.
func (f *Figure) bound(run *result.Run, m result.Metric, d *result.Distribution, all []result.Reason, text result.Percentile, percent float64, suspect bool) {
	switch {
	case f.Unfit == "" || f.Missing != "":
		return
	case f.AtLeast:
		if f.Unfit == lowerBound {
			f.Least, f.leastOwn = f.Value, f.lowOwn()
		}
		return
	case !suspect:
		if nearFloor(d, text) {
			f.Most, f.mostOwn = f.Value, f.highOwn()
		}
		return
	}
	if len(all) == 0 {
		return // the reasons are not known
	}
	longer, lag, shifts := true, false, false
	rest := false // reasons besides lag and changes of level, and those of which it is known how much of the window they took
	for _, r := range all {
		switch r.Code {
		case result.ReasonSteady:
			shifts = true
		case result.ReasonOwnLag, result.ReasonReceiveLag, result.ReasonGeneratorShare, result.ReasonSelfInflicted, result.ReasonGeneratorLimit:
			lag = true
		default:
			longer, rest = longer && r.Code.Properties().Effect == result.EffectLonger, true
		}
	}
	took, takes := taken(all)
	f.BySize = f.BySize || takes
	smallest, largest, known := 0.0, math.Inf(1), false
	if shifts {
		smallest, largest, known = extremes(run, m, d, percent)
	}
	if longer && (!shifts || known) {
		f.Most, f.mostOwn = f.Value, f.highOwn()
		if shifts {
			f.Most = max(f.Most, largest)
			f.mostOwn = max(f.mostOwn, largest)
		}
	}
	switch least := f.Value - took*float64(run.Summary.End); {
	case takes && least > 0:
		f.Least, f.leastOwn = least, f.lowOwn()-(f.Value-least)
	case rest || lag && shifts:
	case shifts && known && smallest > 0:
		f.Least = min(f.Value, smallest)
		f.leastOwn = min(f.lowOwn(), smallest)
	case lag && d == run.Summary.Histograms[m]: // a part of the messages has no service time of its own
		if least, low := leastBesideLag(run, m, percent); least > 0 {
			f.Least, f.leastOwn = min(f.Value, least), min(f.lowOwn(), low)
		}
	}
}

// lowOwn and highOwn are the ends of the figure's interval within the run, infinite without one.
func (f *Figure) lowOwn() float64 {
	if f.Bounded {
		return f.Low
	}
	return math.Inf(-1)
}

func (f *Figure) highOwn() float64 {
	if f.Bounded {
		return f.High
	}
	return math.Inf(1)
}

// extremes returns the smallest and the largest value that a percentile takes in any interval of the
// window. Intervals have p50, p90, p99 and p99.9: the smallest is of the next lower one of
// these, the largest of the next higher one, and beyond p99.9 the run's maximum.
func extremes(run *result.Run, m result.Metric, d *result.Distribution, percent float64) (smallest, largest float64, ok bool) {
	smallest = math.Inf(1)
	for i := range run.Series {
		p := &run.Series[i]
		x, there := p.Metrics[m]
		if p.Phase != result.PhaseMeasure || !there || x.Count == 0 {
			continue
		}
		below, above := 0.0, x.P999
		switch {
		case percent >= 99.9:
			below = float64(x.P999)
		case percent >= 99:
			below = float64(x.P99)
		case percent >= 90:
			below = float64(x.P90)
		case percent >= 50:
			below = float64(x.P50)
		}
		switch {
		case percent <= 50:
			above = x.P50
		case percent <= 90:
			above = x.P90
		case percent <= 99:
			above = x.P99
		}
		smallest, largest, ok = min(smallest, below), max(largest, float64(above)), true
	}
	if percent > 99.9 {
		largest, ok = float64(d.Max), ok && !d.MaxAtLeast && !d.MaxRefused
	}
	return smallest, largest, ok
}

// leastBesideLag returns what a response percentile is at least without the generator's lag, and the
// lower end of the interval of that within the run; 0 if it is not known.
//
// It is not known of one of several workloads, without a schedule, and where more than half a message
// is on its way on average. Service time has no lag in sending, but what was sent late was sent together, and then waits in
// the broker for what was sent before it. So a share of the messages counts as shorter than
// anything: those that were later than the mean distance of two messages, and as many again
// behind them, see [bunched]. Receive lag is taken off whatever messages it is of: if all but a
// share v have at most b, then at most a share v less messages than are above a are above a − b. Messages
// whose receive lag is not known are among that share, except where it is not known of any and a client library has
// the connections: there it is the library's.
func leastBesideLag(run *result.Run, m result.Metric, percent float64) (least, low float64) {
	service := m.Service()
	d, x := run.Summary.Histograms[service], run.Metrics[service]
	if d == nil || x == nil || run.Header.Workload != "" || run.Header.Mode != result.ModeOpen || d.Mean*float64(run.Counters.Scheduled) > float64(run.Summary.End)/2 {
		return 0, 0
	}
	unknown := bunched(run, result.LagOwn)
	received, ends := result.LagReceive, 1.0
	switch m {
	case result.PublishResponse:
		received = result.LagReceiveAck
	case result.RoundTripResponse: // the request is received, and the reply
		ends = 2
		unknown += bunched(run, received)
	}
	lag := run.Summary.Histograms[received]
	off := func(share, by float64) {
		at := percent - 100*(unknown+share)
		if at <= 0 {
			return
		}
		if f := judge.PercentileOf(x, d.Samples, at); f.Needs == 0 && !f.Refused && float64(f.Value)-by > least {
			least = float64(f.Value) - by
			if low = 0; f.Interval != nil {
				from, _ := f.Widest()
				low = max(float64(from)-by, 0)
			}
		}
	}
	if lag == nil || lag.Total() == 0 {
		if run.Header.Semantics.Client.Kind != semantics.Direct { // the library's connections, and its lag
			off(0, 0)
		}
		return least, low
	}
	unknown += ends * receiveUnknown(run.Metrics[m])
	if !lag.MaxAtLeast {
		off(0, ends*float64(lag.Max))
	}
	for name, f := range lag.All() {
		if p, ok := name.Number(); ok && !f.AtLeast {
			off(ends*(1-p/100), ends*float64(f.Value))
		}
	}
	return least, low
}

// receiveUnknown returns the share of a response metric's messages whose receive lag is not known.
func receiveUnknown(x *result.Merged) float64 {
	if x == nil {
		return 0
	}
	all := x.OwnOfAll()
	return float64(all.Unknown) / float64(max(all.Count, 1))
}

// bunched returns at most which share of the messages a lag has moved together: twice the share of
// those whose lag is longer than the mean distance between two messages; 0 without that lag.
// A queue in use for less than half of the time works off n messages at once while at most as
// many more come; it is in use for less than half of the time where fewer than half a message is
// on its way on average.
func bunched(run *result.Run, of result.Metric) float64 {
	d := run.Summary.Histograms[of]
	if d == nil || d.Total() == 0 || run.Counters.Scheduled == 0 {
		return 0
	}
	distance := float64(run.Summary.End) / float64(run.Counters.Scheduled)
	if float64(d.Max) <= distance && !d.MaxAtLeast {
		return 0
	}
	share := 1.0
	for name, f := range d.All() {
		if p, ok := name.Number(); ok && float64(f.Value) <= distance {
			share = 1 - p/100
		}
	}
	return min(2*share, 1)
}

// stands returns the end of the figure's range with which it stands in a comparison of its round;
// false if that is not known.
func (f *Figure) stands(at end) (v float64, ok bool) {
	v = f.Most
	if at == atLeast {
		v = f.Least
	}
	return v, v > 0 && !math.IsInf(v, 0)
}

// ends returns between which values the system's own figure of a round lies, whatever is not known
// of it. own asks for the interval within the run in place of the value.
func (f *Figure) ends(own bool) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	switch {
	case f.Missing != "":
	case f.Unfit == "" && (own || f.Range):
		least, most = f.lowOwn(), f.highOwn()
	case f.Unfit == "":
		least, most = f.Value, f.Value
	case own:
		least, most = f.leastOwn, f.mostOwn
	default:
		least, most = f.Least, f.Most
	}
	return least, most
}

// within returns between which values the median of a cell's rounds lies, at a level, whatever
// is not known of some of them: unknown rounds have no figure. With fewer than six rounds it is where
// the own intervals of all of them lie. An end that is not known is infinite.
func within(figures map[int]Figure, unknown int, at level) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	n := len(figures) + unknown
	low, high := slices.Repeat([]float64{least}, unknown), slices.Repeat([]float64{most}, unknown)
	for _, f := range figures {
		l, h := f.ends(n < at.rounds())
		low, high = append(low, l), append(high, h)
	}
	slices.Sort(low)
	slices.Sort(high)
	if n < at.rounds() {
		if n >= leastRuns {
			return low[0], high[n-1]
		}
		return least, most
	}
	first, last, ok := stats.QuantileRanks(int64(n), 0.5, float64(at))
	if !ok {
		return least, most
	}
	return low[first-1], high[last-1]
}
