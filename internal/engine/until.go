package engine

import (
	"fmt"
	"strings"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/result"
	"sixnines/scenario"
)

// lookRatio is the grid of times at which a run looks at what it goes on for:
// each is so many times the one before, at the end of an interval. Looking costs
// about a millisecond of the collector's thread; what it finds holds however
// often one looks.
const lookRatio = 1.02

// follower follows one metric of a run and ends the window when a percentile of
// it is known as exactly as was asked. It belongs to the collector.
type follower struct {
	until scenario.Until
	sofar *result.Run // of this metric alone
	next  float64     // look from this moment on, ns from the window's start
	found judge.Sequence
}

func newFollower(u scenario.Until) *follower {
	return &follower{until: u, sofar: &result.Run{Metrics: map[result.Metric]*result.Merged{}}}
}

// of reports whether a metric is the one that is followed.
func (f *follower) of(id recorder.ID) bool { return string(id.Metric()) == f.until.Metric }

// add takes an interval, and ends the window if it is the last that is needed.
func (f *follower) add(r *run, v result.Interval) error {
	if v.Phase != result.PhaseMeasure {
		return nil
	}
	m := result.Metric(f.until.Metric)
	one := &result.Interval{Phase: v.Phase, Start: v.Start, End: v.End, Counters: v.Counters}
	if x := v.Metrics[m]; x != nil {
		one.Metrics = map[result.Metric]*result.MetricInterval{m: x}
	}
	f.sofar.Header.Until, f.sofar.Header.Slot = f.until.String(), recorder.Slot
	if err := f.sofar.Add(result.Record{Interval: one}); err != nil {
		return fmt.Errorf("follow %s: %w", m, err)
	}
	if float64(v.End) < f.next {
		return nil
	}
	f.next = max(float64(v.End)*lookRatio, f.next)
	f.found = judge.SequenceOf(f.sofar, f.until, v.End, v.InFlight)
	if f.found.Narrow() && time.Duration(v.End) >= r.scenario.Phases.Duration {
		r.shorten("narrow")
	}
	return nil
}

// text is how exactly the percentile is known by now, and how exactly it is to be.
func (f *follower) text() string {
	known := "not known yet"
	if w := f.found.Width(); w != "" {
		known = "known " + w
	}
	_, asked, _ := strings.Cut(f.until.String(), "±")
	return fmt.Sprintf("p%s %s, asked ±%s", f.until.Percentile(), known, asked)
}
