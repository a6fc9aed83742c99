package judge

import (
	"fmt"
	"math"
	"strings"
	"time"

	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// steady judges whether the run came to a steady state and stayed there, by the
// p50 and p99 of every second of the window of its primary metric: the first in
// the order of reports that has figures. Seconds are put together from shorter
// intervals by adding histograms; a longer interval is taken as it is, and counts
// as one. It is nil where nothing was measured in a window.
//
// Nothing is ever cut off: what the reader should discard is said, and how.
func steady(run *result.Run, s *result.Summary) *result.Steady {
	metric := result.Metric("")
	for _, m := range result.Metrics() {
		if d := s.Histograms[m]; d != nil && d.Count > 0 {
			metric = m
			break
		}
	}
	if metric == "" || len(run.Seconds) == 0 {
		return nil
	}
	var p50, p99 []float64
	for i := range run.Seconds {
		m := run.Seconds[i].Metrics[metric]
		// Zero where nothing was resolved: the figure before it stands.
		p50, p99 = append(p50, float64(m.P50)), append(p99, float64(m.P99))
	}
	st := &result.Steady{Metric: metric, Intervals: len(run.Seconds), P50: course(run, p50), P99: course(run, p99)}
	st.Text = conclusion(run, st)
	return st
}

// course classes one series and says in ns where its steady part begins.
func course(run *result.Run, series []float64) result.Course {
	v := stats.SteadyState(series)
	c := result.Course{Class: string(v.Class), Change: v.Change, From: -1, Outliers: v.Outliers}
	if v.From < len(run.Seconds) && v.Class != stats.NotAssessed {
		c.From = max(run.Seconds[v.From].Start, 0)
	}
	if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) {
		c.Change = 1 // a series of zeros
	}
	return c
}

// unsteady reports whether a figure of the whole window depends on how long the
// window was: it then mixes levels, by the time that each was held.
func unsteady(c result.Course) bool {
	switch stats.Steadiness(c.Class) {
	case stats.Drift, stats.LevelShift, stats.NoSteadyState:
		return true
	}
	return false
}

// conclusion says in one line what to make of the courses.
func conclusion(run *result.Run, s *result.Steady) string {
	if s.P50.Class == string(stats.NotAssessed) {
		length := run.Seconds[0].End - run.Seconds[0].Start
		if length > int64(1.5*float64(time.Second)) {
			return fmt.Sprintf("not assessed: %d intervals of %s, at least %d are needed; run longer, or set record.interval to 1s", s.Intervals, span(length), stats.LeastSteady)
		}
		return fmt.Sprintf("not assessed: %d intervals of a second, at least %d are needed; run longer (--duration)", s.Intervals, stats.LeastSteady)
	}
	var found, events []string
	from := int64(0)
	for _, c := range []struct {
		name string
		result.Course
	}{{"p50", s.P50}, {"p99", s.P99}} {
		switch stats.Steadiness(c.Class) {
		case stats.WarmUp:
			from = max(from, c.From)
		case stats.Drift:
			found = append(found, fmt.Sprintf("%s drifted all the time, to %s times its beginning", c.name, times3(c.Change)))
		case stats.LevelShift:
			found = append(found, fmt.Sprintf("%s changed to %s times its level %s after the start", c.name, times3(c.Change), span(c.From)))
		case stats.NoSteadyState:
			found = append(found, c.name+" came to no steady state")
		}
		if c.Outliers > 0 {
			events = append(events, plural(int64(c.Outliers), "interval")+" of "+c.name)
		}
	}
	if from > 0 {
		found = append(found, fmt.Sprintf("the first %s look like warm-up%s", span(from), lengthen(run, from)))
	}
	aside := ""
	if len(events) > 0 {
		aside = "; events and no state: " + strings.Join(events, ", ")
	}
	if len(found) == 0 {
		return "p50 and p99 were flat; nothing was discarded and nothing must be" + aside
	}
	return "nothing was discarded; " + strings.Join(found, "; ") + aside
}

// lengthen is the advice that makes a warm-up cover ns more.
func lengthen(run *result.Run, ns int64) string {
	s, err := scenario.FromJSON("header", run.Header.Scenario)
	if err != nil {
		return ": lengthen --warmup by that"
	}
	need := s.Phases.Warmup + time.Duration(ns)
	if rest := need % time.Second; rest > 0 {
		need += time.Second - rest
	}
	return ": lengthen --warmup to " + need.String()
}

// times3 writes a ratio to three digits.
func times3(v float64) string { return fmt.Sprintf("%.3g", v) }

// steadiness: the run warmed up, drifted or jumped while it was measured. What
// warmed up is a note with its remedy: the rest of the window is steady. What
// drifted, changed its level or never settled makes the percentile doubtful, for
// it would be another one had the run been longer; it is the system's doing, but
// no figure of the system. p99 speaks for all beyond it. Where faults were part
// of the run, or an overload is named, the course is their consequence, and so
// is known already.
func steadiness(e *evidence) (found []result.Reason) {
	s := e.summary.Steady
	if s == nil || len(backlogGrows(e)) > 0 {
		return nil
	}
	status := result.Suspect
	if e.disturbed() || e.run.Header.Mode == result.ModeFlatOut {
		status = result.Valid
	}
	for _, c := range []struct {
		percentile string
		result.Course
	}{{"50", s.P50}, {"99", s.P99}} {
		if !unsteady(c.Course) {
			continue
		}
		beyond := ""
		if c.percentile == "99" {
			beyond = " and those beyond it"
		}
		found = append(found, result.Reason{Status: status, Code: "steady", Metric: s.Metric, Percentile: c.percentile,
			Text: fmt.Sprintf("%s p%s%s depend on the length of the run (%s): %s", s.Metric, c.percentile, beyond, c.Class, s.Text)})
	}
	if len(found) == 0 && (s.P50.Class == string(stats.WarmUp) || s.P99.Class == string(stats.WarmUp)) {
		found = one(result.Valid, "warm-up", s.Text)
	}
	return found
}

// disturbed reports whether something broke during the run that was not the
// generator: a connection, or a process of the broker.
func (e *evidence) disturbed() bool {
	for _, ev := range e.run.Events {
		if (ev.Kind == eventDisconnected || ev.Kind == eventBrokerEnded) && ev.At >= 0 && ev.At < e.in.End {
			return true
		}
	}
	return false
}
