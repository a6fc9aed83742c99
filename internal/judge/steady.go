package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// steadyParts is the largest number of stretches in a window of less than a minute.
	// Shorter stretches would turn moments into states, and the shorter neighbours are,
	// the more alike they are.
	steadyParts = 60
	// fewestP50 and fewestP99 are how many messages a stretch needs for a meaningful p50
	// and p99. The latter is the number that a finite interval of p99 needs
	// ([stats.MinSamples]).
	fewestP50 = 24
	fewestP99 = 368
)

// The least relative changes that are reported. leastShortChange is for windows of less than
// a minute, in which the level of any machine changes now and then.
const (
	leastChange      = 0.05
	leastShortChange = 0.25
)

// warmedUp is the least ratio of a percentile of the whole window to that of its steady
// part for the percentile to include a warm-up.
const warmedUp = 1.1

// steady judges whether the run reached a steady state and stayed there, by the p50 and
// p99 of stretches of the window. It uses the primary metric: the first in the order of
// reports that has figures. A stretch is a second, or 1/60 of a window shorter than a
// minute, and longer where it needs more messages. The result is nil if nothing was
// measured in the window.
//
// Each part of the window between the effects of actions is judged by itself, because an
// action may change a level for good. The result is that of the first part that is not
// steady, else that of the longest.
//
// Nothing is discarded: the text says what the reader should discard, and how.
func steady(run *result.Run, s *result.Summary) *result.Steady {
	metric := result.Metric("")
	for _, m := range result.Metrics() {
		if d := s.Histograms[m]; d != nil && d.Count > 0 {
			metric = m
			break
		}
	}
	b := blocksInTime(run, metric)
	if len(b) == 0 {
		return nil
	}
	addRefused(b, run, metric)
	end := b[len(b)-1].end
	all := calm(b, Stretches(run, s.Costs))
	if len(all) == 0 {
		return nil // an action explains all of it
	}
	var st *result.Steady
	longest := int64(-1)
	for _, part := range all {
		x := &result.Steady{Metric: metric, P50: part.trend(end, 0.5, fewestP50), P99: part.trend(end, 0.99, fewestP99)}
		from, to := part.blocks[0].start, part.blocks[len(part.blocks)-1].end
		found := unsteady(x.P50) || unsteady(x.P99)
		if !found && to-from <= longest {
			continue
		}
		st, longest = x, to-from
		if st.Text = conclusion(run, st); len(all) > 1 || to-from < end {
			st.Text += fmt.Sprintf("; this is of the part from %s to %s, outside of the effects of actions", span(from), span(to))
		}
		if found {
			break
		}
	}
	st.Intervals = st.P50.Stretches
	return st
}

// calmPart is a part of the window in which no action had an effect.
type calmPart struct {
	blocks []timedBlock
	after  bool // an action's effect precedes it
	// recovering says that the effect is over by the plan, and was not seen to end.
	recovering bool
}

// calm returns the parts of the window, in order. The effect of an action that was not seen to end leaves out
// no more than the action itself: else any latency that grows for good would be an action's.
func calm(b []timedBlock, acts []Stretch) (parts []calmPart) {
	end := b[len(b)-1].end
	acts = slices.DeleteFunc(slices.Clone(acts), func(s Stretch) bool { return !s.Happened || s.Explains() == "" })
	next := calmPart{}
	for i := range b {
		left, recovering := false, false
		for _, s := range acts {
			from, to := s.From, max(s.To, s.From+1)
			if s.Action.Kind == string(scenario.ActionStart) {
				from = 0 // consumers were away before
			}
			if to >= end {
				to, recovering = max(s.Over, s.From+1), recovering || b[i].start >= s.From
			}
			// What was due before is in the block after that, too.
			left = left || from < b[i].end && to+b[i].end-b[i].start > b[i].start
		}
		if left || recovering != next.recovering {
			if len(next.blocks) > 0 {
				parts = append(parts, next)
			}
			next = calmPart{after: next.after || left, recovering: recovering}
		}
		if !left {
			next.blocks = append(next.blocks, b[i])
		}
	}
	if len(next.blocks) > 0 {
		parts = append(parts, next)
	}
	return parts
}

// trend is that of the part, in which the rest of an action's effect is no trend: what looks like a warm-up is
// left out and, while a latency may be on its way back, whatever does not make it longer.
func (p *calmPart) trend(window int64, q float64, fewest int64) result.Trend {
	c := trend(p.blocks, window, q, fewest)
	if p.after && c.Class == string(stats.WarmUp) {
		rest := slices.Clone(p.blocks)
		rest = slices.DeleteFunc(rest, func(b timedBlock) bool { return b.start < c.From })
		c = trend(rest, window, q, fewest)
	}
	switch stats.Steadiness(c.Class) {
	case stats.WarmUp:
		if p.after {
			c.Class = string(stats.Flat)
		}
	case stats.Drift, stats.LevelShift, stats.NoSteadyState:
		if p.recovering && c.Change <= 1 {
			c.Class = string(stats.Flat)
		}
	}
	return c
}

// timedBlock is a stretch of the window with the values of a metric in it.
type timedBlock struct {
	start, end int64 // ns from the window's start
	result.Block
}

// blocksInTime returns a metric's blocks with their times.
func blocksInTime(run *result.Run, m result.Metric) []timedBlock {
	blocks, per := run.Blocks(m)
	if len(blocks) == 0 {
		return nil
	}
	timed := make([]timedBlock, len(blocks))
	n := 0
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseMeasure {
			continue
		}
		at := n / per
		if n%per == 0 {
			timed[at] = timedBlock{start: max(p.Start, 0), Block: blocks[at]}
		}
		timed[at].end = p.End
		n++
	}
	return timed
}

// stretches joins blocks until each stretch has the given number of values and the least
// length, which depends on that of the window, ns. Blocks left over at the end are added to the last stretch.
func stretches(b []timedBlock, window, fewest int64) []timedBlock {
	shortest := min(int64(time.Second), window/steadyParts)
	shortest -= shortest / 100 // the ends of intervals jitter
	var all []timedBlock
	var part []result.Block
	var count, start int64
	for i := range b {
		if len(part) == 0 {
			start = b[i].start
		}
		part = append(part, b[i].Block)
		if count += b[i].Count(); count < fewest || b[i].end-start < shortest {
			continue
		}
		all = append(all, timedBlock{start, b[i].end, sumOf(part)})
		part, count = nil, 0
	}
	if last := len(all) - 1; last >= 0 && len(part) > 0 {
		all[last] = timedBlock{all[last].start, b[len(b)-1].end, sumOf(append(part, all[last].Block))}
	}
	return all
}

// trend classifies the series of the quantile q, 0 to 1, and gives the instant, ns, at
// which its steady part begins, −1 if unknown.
func trend(b []timedBlock, window int64, q float64, fewest int64) result.Trend {
	parts := stretches(b, window, fewest)
	series := make([]float64, len(parts))
	for i := range parts {
		series[i] = float64(parts[i].Quantile(q))
	}
	least := leastChange
	if window < int64(time.Minute) {
		least = leastShortChange
	}
	v := stats.SteadyState(series, least)
	c := result.Trend{Class: string(v.Class), Change: v.Change, From: -1, Stretches: len(parts), Outliers: v.Outliers}
	if v.From < len(parts) && v.Class != stats.NotAssessed {
		c.From = parts[v.From].start
	}
	if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) {
		c.Change = 1 // a series of zeros
	}
	return c
}

// unsteady reports whether a figure of the whole window depends on the window's length,
// because it mixes levels, weighted by how long each lasted.
func unsteady(c result.Trend) bool {
	switch stats.Steadiness(c.Class) {
	case stats.Drift, stats.LevelShift, stats.NoSteadyState:
		return true
	}
	return false
}

// notAssessed says why a trend was not assessed; it is empty if it was.
func notAssessed(run *result.Run, name string, c result.Trend, fewest int64) string {
	if c.Class != string(stats.NotAssessed) {
		return ""
	}
	text := fmt.Sprintf("%s has %d stretches of at least %s and needs %d",
		name, c.Stretches, spell.Plural(fewest, "message"), stats.LeastSteady)
	if asked := run.Header.Interval; asked > scenario.IntervalFor(run.Header.Window) {
		return text + ": run longer (--duration), or leave record.interval out"
	}
	return text + ": run longer (--duration)"
}

// conclusion says in one line what the trends mean for the reader.
func conclusion(run *result.Run, s *result.Steady) string {
	missing := notAssessed(run, "p50", s.P50, fewestP50)
	if missing != "" {
		return "not assessed: " + missing
	}
	both := "p50 and p99 were flat"
	aside := ""
	if missing = notAssessed(run, "p99", s.P99, fewestP99); missing != "" {
		both, aside = "p50 was flat", "; p99 was not assessed: "+missing
	}
	var found, events []string
	from := int64(0)
	for _, c := range []struct {
		name string
		result.Trend
	}{{"p50", s.P50}, {"p99", s.P99}} {
		switch stats.Steadiness(c.Class) {
		case stats.WarmUp:
			from = max(from, c.From)
		case stats.Drift:
			found = append(found, fmt.Sprintf("%s drifted throughout, to %s times its initial level", c.name, times3(c.Change)))
		case stats.LevelShift:
			found = append(found, fmt.Sprintf("%s changed to %s times its former level %s after the start", c.name, times3(c.Change), span(c.From)))
		case stats.NoSteadyState:
			found = append(found, c.name+" reached no steady state")
		}
		if c.Outliers > 0 {
			events = append(events, fmt.Sprintf("%d of the %d stretches of %s", c.Outliers, c.Stretches, c.name))
		}
	}
	if from > 0 {
		found = append(found, fmt.Sprintf("the first %s look like warm-up: %s", span(from), lengthen(run, from)))
	}
	if len(events) > 0 {
		aside = "; short events, not a change of level: " + strings.Join(events, ", ") + aside
	}
	if len(found) == 0 {
		return both + "; nothing was discarded and nothing needs to be" + aside
	}
	return "nothing was discarded; " + strings.Join(found, "; ") + aside
}

// lengthen returns the advice that makes the warm-up longer by ns.
func lengthen(run *result.Run, ns int64) string {
	if run.Header.From > 0 {
		return "a workload that begins in the window (from) has no warm-up; the longer it lasts, the less this matters"
	}
	s, err := scenario.FromRecord("header", run.Header.Scenario)
	if err != nil {
		return "lengthen --warmup by that"
	}
	need := s.Phases.Warmup + time.Duration(ns)
	if rest := need % time.Second; rest > 0 {
		need += time.Second - rest
	}
	return "run with --warmup " + need.String()
}

// times3 writes a ratio to three digits.
func times3(v float64) string { return fmt.Sprintf("%.3g", v) }

// steadiness: the run warmed up, drifted or jumped while it was measured. A percentile that
// drifted, changed its level or reached no steady state is suspect, because a longer run
// would give another one; p99 stands for all percentiles above it. A warm-up makes
// percentiles suspect from the first one that differs without it; if none does, it is a
// note with its remedy. In an unpaced run, or where something broke by itself, these
// findings are notes. Nothing is reported where a growing backlog explains the trend. A
// trend that could not be assessed is reported as a note.
func steadiness(e *evidence) (found []result.Reason) {
	s := e.summary.Steady
	if s == nil || len(backlogGrows(e)) > 0 {
		return nil
	}
	flatOut := e.run.Header.Mode == result.ModeFlatOut
	status := result.Suspect
	if e.disturbed() || flatOut {
		status = result.Valid
	}
	for _, c := range []struct {
		percentile result.Percentile
		result.Trend
	}{{result.P50, s.P50}, {result.P99, s.P99}} {
		if !unsteady(c.Trend) {
			continue
		}
		beyond := " depends"
		if c.percentile == result.P99 {
			beyond = " and the percentiles above it depend"
		}
		found = append(found, result.Reason{Status: status, Code: result.ReasonSteady, Metric: s.Metric, Percentile: c.percentile, Brief: c.Class,
			Found: fmt.Sprintf("%s p%s%s on the length of the run (%s)", s.Metric, c.percentile, beyond, c.Class), Means: s.Text})
	}
	if s.P50.Class == string(stats.WarmUp) || s.P99.Class == string(stats.WarmUp) {
		r := e.warmUpReaches()
		switch {
		case r != nil:
			r.Status = status
			found = append(found, *r)
		case len(found) == 0:
			found = note(result.ReasonWarmUp, s.Text)
		}
	}
	switch {
	case flatOut:
	case s.P50.Class == string(stats.NotAssessed):
		found = append(found, result.Reason{Status: result.Valid, Code: result.ReasonSteadyNotAssessed, Metric: s.Metric, Found: fmt.Sprintf("%s: steady state %s", s.Metric, s.Text)})
	case s.P99.Class == string(stats.NotAssessed):
		found = append(found, result.Reason{Status: result.Valid, Code: result.ReasonSteadyNotAssessed, Metric: s.Metric, Percentile: result.P99,
			Found: fmt.Sprintf("%s: steady state not assessed for p99 and the percentiles above it: %s", s.Metric, notAssessed(e.run, "p99", s.P99, fewestP99))})
	}
	return found
}

// warmUpReaches returns a finding about the first percentile that is warmedUp times as large
// with the warm-up as without it, among those that the rest of the window supports; else nil.
func (e *evidence) warmUpReaches() *result.Reason {
	s := e.summary.Steady
	from := int64(0)
	for _, c := range []result.Trend{s.P50, s.P99} {
		if c.Class == string(stats.WarmUp) {
			from = max(from, c.From)
		}
	}
	var all, rest []result.Block
	blocks := blocksInTime(e.run, s.Metric)
	for _, part := range calm(blocks, e.acts) {
		for _, b := range part.blocks {
			all = append(all, b.Block)
			if b.start >= from {
				rest = append(rest, b.Block)
			}
		}
	}
	whole, part := sumOf(all), sumOf(rest)
	for _, name := range result.Percentiles() {
		q := stats.Fraction(percentOf(name))
		if _, ok := e.summary.Histograms[s.Metric].At(name); !ok || stats.SupportOf(part.Count(), q) == stats.NotSupported {
			break
		}
		if a, b := whole.Quantile(q), part.Quantile(q); float64(a) > warmedUp*float64(b) {
			return &result.Reason{Code: result.ReasonWarmUp, Metric: s.Metric, Percentile: name, Brief: "warm-up", Found: fmt.Sprintf(
				"%s p%s and the percentiles above it include a warm-up (p%s is %s over the whole window and %s from %s on)",
				s.Metric, name, name, span(a), span(b), span(from)), Means: fmt.Sprintf("the first %s look like warm-up", span(from)), Try: lengthen(e.run, from)}
		}
	}
	return nil
}

// disturbed reports whether something other than the generator broke during the window by itself: a
// connection, or a process of the broker. Where an action had an effect nothing is said of that.
func (e *evidence) disturbed() bool {
	return slices.ContainsFunc(e.run.Events, func(ev result.Event) bool {
		return (ev.Kind == result.EventDisconnected || ev.Kind == result.EventBrokerEnded) && ev.At >= 0 && ev.At < e.in.End &&
			!slices.ContainsFunc(e.acts, func(s Stretch) bool { return ev.At >= s.From && ev.At < s.To })
	})
}
