package account

import (
	"fmt"
	"time"

	"sixnines/internal/engine/plan"
	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/result"
	"sixnines/scenario"
)

// lookRatio spaces the checks whether a run may end: the first is at half of the least length, and
// each later one at lookRatio times the time of the one before, at the end of an interval. A check
// costs some milliseconds of the collector's thread and a megabyte of garbage; its answer is right
// however often it is made.
const lookRatio = 1.05

// Follower follows one metric of a run and ends the window when a percentile of
// it is known as exactly as was asked. It belongs to the collector.
type Follower struct {
	Until  scenario.Until // what is asked
	Metric recorder.ID    // the metric of Until; the run's goroutine sets it while the load connects
	sofar  *result.Run    // intervals so far, of this metric alone; nil before the first
	next   float64        // when to check again, ns from the window's start
	found  judge.Sequence // what the last check found
}

// Of reports whether a metric is the one that is followed.
func (f *Follower) Of(id recorder.ID) bool { return string(id.Metric()) == f.Until.Metric }

// Add takes an interval, and reports whether it is the last that is needed. The error says that the
// interval cannot be merged with those before it.
func (f *Follower) Add(p *plan.Plan, rec *recorder.Recorder, v result.Interval) (last bool, err error) {
	if v.Phase != result.PhaseMeasure {
		return false, nil
	}
	m := result.Metric(f.Until.Metric)
	if f.sofar == nil {
		f.next = float64(p.Scenario.Phases.Duration) / 2
		f.sofar = &result.Run{Header: result.Header{Until: f.Until.String(), Slot: recorder.Slot, Window: p.Length},
			Metrics: map[result.Metric]*result.Merged{m: {Hist: result.NewHistogram(rec.Layout())}}}
	}
	added := func(visit func(low, high, n int64)) { rec.LastBuckets(f.Metric, visit) }
	if err := f.sofar.Follow(m, &v, added); err != nil {
		return false, fmt.Errorf("follow %s: %w", m, err)
	}
	if float64(v.End) < f.next {
		return false, nil
	}
	f.next = max(float64(v.End)*lookRatio, f.next)
	f.found = judge.SequenceOf(f.sofar, f.Until, v.End, v.InFlight+f.sofar.Counters.Nacked+f.sofar.Counters.Rejected)
	return f.found.Narrow() && time.Duration(v.End) >= p.Scenario.Phases.Duration, nil
}

// Text says how exactly the percentile is known by now, and how exactly it must be.
func (f *Follower) Text() string {
	known := "not known yet"
	if w := f.found.Width(); w != "" {
		known = "known " + w
	}
	return fmt.Sprintf("p%s %s, asked ±%s", f.Until.Percentile(), known, f.Until.HalfWidth())
}
