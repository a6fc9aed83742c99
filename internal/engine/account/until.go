package account

import (
	"fmt"
	"strings"
	"time"

	"sixnines/internal/engine/plan"
	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/result"
	"sixnines/scenario"
)

// lookRatio is the grid of times at which a run checks whether it may end:
// each is so many times the one before, from half of the least length on, at the
// end of an interval. A check costs some milliseconds of the collector's thread
// and a megabyte of garbage; its answer is right however often it is made.
const lookRatio = 1.05

// Follower follows one metric of a run and ends the window when a percentile of
// it is known as exactly as was asked. It belongs to the collector.
type Follower struct {
	Until  scenario.Until
	Metric recorder.ID // its
	sofar  *result.Run // of this metric alone; nil before the first interval
	next   float64     // look from this moment on, ns from the window's start
	found  judge.Sequence
}

// Of reports whether a metric is the one that is followed.
func (f *Follower) Of(id recorder.ID) bool { return string(id.Metric()) == f.Until.Metric }

// Add takes an interval, and reports whether it is the last that is needed.
func (f *Follower) Add(p *plan.Plan, rec *recorder.Recorder, v result.Interval) (last bool, err error) {
	if v.Phase != result.PhaseMeasure {
		return false, nil
	}
	m := result.Metric(f.Until.Metric)
	if f.sofar == nil {
		f.next = float64(p.Scenario.Phases.Duration) / 2
		f.sofar = &result.Run{Header: result.Header{Until: f.Until.String(), Slot: recorder.Slot, Window: p.Length},
			Metrics: map[result.Metric]*result.Merged{m: {Hist: rec.Empty()}}}
	}
	if err := f.sofar.Follow(m, &v, rec.LastRanks(f.Metric)); err != nil {
		return false, fmt.Errorf("follow %s: %w", m, err)
	}
	if float64(v.End) < f.next {
		return false, nil
	}
	f.next = max(float64(v.End)*lookRatio, f.next)
	f.found = judge.SequenceOf(f.sofar, f.Until, v.End, v.InFlight+f.sofar.Counters.Nacked+f.sofar.Counters.Rejected)
	return f.found.Narrow() && time.Duration(v.End) >= p.Scenario.Phases.Duration, nil
}

// Text is how exactly the percentile is known by now, and how exactly it is to be.
func (f *Follower) Text() string {
	known := "not known yet"
	if w := f.found.Width(); w != "" {
		known = "known " + w
	}
	_, asked, _ := strings.Cut(f.Until.String(), "±")
	return fmt.Sprintf("p%s %s, asked ±%s", f.Until.Percentile(), known, asked)
}
