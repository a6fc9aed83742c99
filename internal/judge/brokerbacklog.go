package judge

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// mostBacklogSteps is the most steps of a Backlog.
	mostBacklogSteps = 16
	// backlogCleared is the part of its peak to which a backlog must fall to count as cleared
	// while the load goes on, because some messages are always in flight then.
	backlogCleared = 0.01
	// consumersFromFilled is Header.ConsumersFrom of consumers that connect after all is sent.
	consumersFromFilled = "filled"
)

// brokerBacklog describes how the backlog of late or paused consumers grew and fell. It is nil
// if the run has no such consumers.
func brokerBacklog(run *result.Run, in Inputs) *result.Backlog {
	h := &run.Header
	if !slices.ContainsFunc(placed(run), func(s Stretch) bool { return s.Explains() == scenario.ExplainsBacklog }) {
		return nil
	}
	points := timedPoints(run)
	from, paused, came := consumersFrom(run)
	k := &result.Backlog{From: from, Steps: []result.BacklogStep{}}
	stops := h.Stops || h.Mode == result.ModeFlatOut
	steps := backlogReadings(points)
	var end backlogReading
	if len(steps) > 0 {
		end = steps[len(steps)-1]
	}
	// Consumers resume a moment after the planned instant; messages sent until then count as filled.
	begin := end
	if came {
		begin = readingFrom(steps, from)
	}
	k.Filled, k.Left = begin.Sent, end.Left()
	var before int64 // largest backlog before the pause
	for _, x := range steps {
		if left := x.Left(); x.At <= paused {
			before = max(before, left)
		} else if left > k.Peak {
			k.Peak, k.PeakAt = left, x.At
		}
	}
	full := came && (h.ConsumersFrom == consumersFromFilled || stops && from >= in.End) // all was sent before they connected
	if full && h.ConsumersPause == "" {
		k.Peak, k.PeakAt = max(0, end.Expected-end.corrupted), min(from, in.End)
	}
	until := int64(0)
	if len(points) > 0 { // the run may have waited long for messages that never came
		until = min(points[len(points)-1].End, max(in.Resolved, from))
	}
	known := int64(0) // ns from the reading before Gone to Gone: how exactly Gone is known
	if came && !full {
		k.Gone, known = backlogGone(steps, k, before)
	}
	if came && k.Gone == 0 && stops && k.Left == 0 {
		k.Gone = in.Resolved
	}
	if k.Gone > 0 {
		until = k.Gone
	}
	// Counts are read a moment after an interval's end. So deliveries that no consumer could
	// have received earlier are not selected by time, nor is the delivery that ended the drain.
	if came {
		last := end
		if k.Gone != in.Resolved {
			last = readingFrom(steps, until)
		}
		k.Drained = last.came()
		if h.ConsumersFrom == "" {
			k.Drained -= readingTo(steps, from).came()
		}
	}
	if until > from && (k.Gone == 0 || k.Gone == in.Resolved || k.Gone-from >= known) {
		k.DrainRate = float64(k.Drained) / (float64(until-from) / 1e9)
	}
	filling := begin.At
	if stops {
		filling = min(filling, in.End)
	}
	if t := in.Throughput; t != nil && h.ConsumersFrom != "" {
		if t.Needs == 0 {
			k.FillRate = t.PerSecond
		}
	} else if filling > 0 {
		k.FillRate = float64(k.Filled) / (float64(filling) / 1e9)
	}
	for _, p := range points {
		if p.Depth != nil {
			if k.Depth = result.DepthWaiting; p.Depth.Unacknowledged {
				k.Depth = result.DepthUnacknowledged
			}
		}
	}
	k.Steps = backlogSteps(points, until)
	return k
}

// consumersFrom returns when consumers connected or last resumed, and when they first paused
// before that, in ns from the window's start. came is false if the run ended before they connected.
func consumersFrom(run *result.Run) (from, paused int64, came bool) {
	var pauses []Stretch
	var last int64
	for _, p := range run.Series {
		last = max(last, p.End)
	}
	came = true
	for _, s := range placed(run) {
		switch scenario.ActionKind(s.Action.Kind) {
		case scenario.ActionStart:
			if from, came = s.From, s.Happened; !came {
				from = last
			}
		case scenario.ActionPause:
			pauses = append(pauses, s)
		}
	}
	happened := func(s Stretch) bool { return s.Happened }
	if slices.ContainsFunc(pauses, happened) { // else the run ended before the first pause
		pauses = slices.DeleteFunc(pauses, func(s Stretch) bool { return !happened(s) })
	}
	start := from
	for _, s := range pauses {
		if !came || s.Over <= start {
			continue
		}
		if from == start || s.From < paused {
			paused = s.From
		}
		from = max(from, s.Over)
	}
	return from, paused, came
}

// timedPoints are the intervals of the window and the drain.
func timedPoints(run *result.Run) (points []*result.Point) {
	for i := range run.Series {
		if p := &run.Series[i]; p.Phase == result.PhaseMeasure || p.Phase == result.PhaseDrain {
			points = append(points, p)
		}
	}
	return points
}

// backlogReading is one reading of the backlog: taken by the engine, or at an interval's end.
type backlogReading struct {
	result.BacklogReading
	corrupted int64
	measured  bool // it lies in the window
}

// came is how many deliveries have arrived, without damaged ones.
func (s backlogReading) came() int64 { return s.Arrived - s.corrupted + s.Earlier }

// backlogReadings returns all readings in order of time. The number of damaged messages is known
// only at the ends of intervals; readings between have that of the last end.
func backlogReadings(points []*result.Point) []backlogReading {
	var steps []backlogReading
	var all result.Counters
	for _, p := range points {
		measured := p.Phase == result.PhaseMeasure
		for _, k := range p.Readings {
			if k.At < p.End {
				steps = append(steps, backlogReading{k, all.Corrupted, measured})
			}
		}
		all.Add(p.Counters)
		steps = append(steps, backlogReading{result.BacklogReading{At: p.End, Sent: all.Sent, Expected: all.Expected, Arrived: all.Received + all.Corrupted, Earlier: all.Earlier}, all.Corrupted, measured})
	}
	return steps
}

// readingFrom returns the first reading at an instant or after it, else the last one.
func readingFrom(steps []backlogReading, at int64) backlogReading {
	for _, s := range steps {
		if s.At >= at {
			return s
		}
	}
	if len(steps) == 0 {
		return backlogReading{}
	}
	return steps[len(steps)-1]
}

// readingTo returns the last reading at an instant or before it, or else the zero reading, which
// stands for the window's start.
func readingTo(steps []backlogReading, at int64) (last backlogReading) {
	for _, s := range steps {
		if s.At > at {
			break
		}
		last = s
	}
	return last
}

// goneAfter returns the instant, ns, of the first reading at which the backlog of the stretch
// [from, over] was cleared; 0 if it never was.
func goneAfter(steps []backlogReading, from, over int64) int64 {
	var before, peak int64
	for _, s := range steps {
		left := s.Left()
		if s.At <= from {
			before = max(before, left)
			continue
		}
		peak = max(peak, left)
		if s.At > over && left <= max(before, int64(math.Ceil(backlogCleared*float64(peak)))) {
			return s.At
		}
	}
	return 0
}

// backlogGone returns the instant of the first reading in the window, after the peak, at which
// the backlog was cleared, and the time since the previous reading, both ns; 0 and 0 if it was
// not cleared in the window.
func backlogGone(steps []backlogReading, k *result.Backlog, before int64) (at, since int64) {
	for i, s := range steps {
		if !s.measured || s.At <= max(k.From, k.PeakAt) {
			continue
		}
		if s.Left() <= max(before, int64(math.Ceil(backlogCleared*float64(k.Peak)))) {
			if i > 0 {
				return s.At, s.At - steps[i-1].At
			}
			return s.At, s.At
		}
	}
	return 0, 0
}

// backlogSteps joins the intervals up to an instant into at most mostBacklogSteps steps.
func backlogSteps(points []*result.Point, until int64) []result.BacklogStep {
	for i, p := range points {
		if p.Start >= until {
			points = points[:i]
			break
		}
	}
	per := (len(points) + mostBacklogSteps - 1) / mostBacklogSteps
	steps := []result.BacklogStep{}
	var all result.Counters
	for i := 0; i < len(points); i += per {
		s := result.BacklogStep{Depth: -1}
		before, start := all, points[i].Start
		for _, p := range points[i:min(i+per, len(points))] {
			all.Add(p.Counters)
			s.End = p.End
			if p.Depth != nil {
				s.Depth = p.Depth.Messages
			}
		}
		seconds := float64(s.End-start) / 1e9
		s.Sent = float64(all.Sent-before.Sent) / seconds
		s.Received = float64(all.Received+all.Earlier-before.Received-before.Earlier) / seconds
		s.Backlog = max(0, all.Expected-all.Received-all.Corrupted)
		steps = append(steps, s)
	}
	return steps
}

// backlogKept: delivery latencies include the time in a backlog that the scenario asked for.
// The run is UNSTABLE where that backlog was not cleared in the window, and SUSPECT where the
// run was interrupted before its consumers came.
func backlogKept(e *evidence) []result.Reason {
	k, h := e.summary.Backlog, &e.run.Header
	if k == nil {
		return nil
	}
	why := "consumers paused (" + h.ConsumersPause + ")"
	if n := pausesOf(h); n > 1 {
		why = fmt.Sprintf("consumers paused (%d times, first %s)", n, h.ConsumersPause)
	}
	if h.ConsumersFrom != "" {
		why = "consumers came late (" + h.ConsumersFrom + ")"
	}
	found := single(result.Reason{Status: result.Valid, Code: result.ReasonBacklogKept, Found: why,
		Means: "delivery latencies include the time in the queue, which depends on how long the consumers were away"})
	stops := h.Stops || h.Mode == result.ModeFlatOut
	switch {
	case k.Gone > 0 || stops || e.in.CutShort || e.in.Aborted:
	case e.in.Interrupted && k.From >= e.in.End:
		found = append(found, result.Reason{Status: result.Suspect, Code: result.ReasonBacklog, Brief: "interrupted before the consumers came",
			Found: "the run was interrupted before the consumers connected or resumed, so it does not show whether they keep up", Try: "run it to its end"})
	default:
		found = append(found, result.Reason{Status: result.Unstable, Code: result.ReasonBacklog, Brief: "consumers did not catch up", Found: fmt.Sprintf(
			"the backlog was not cleared when the window ended: of %s at its peak, %s were left",
			spell.Count(k.Peak)+" deliveries", spell.Count(e.leftInWindow())),
			Means: "consumers have little or no spare capacity at this rate", Try: "lower --rate, or make the window longer (--duration)"})
	}
	return found
}

// pausesOf counts the pauses of a plan.
func pausesOf(h *result.Header) (n int) {
	for _, a := range planned(h) {
		if a.Kind == string(scenario.ActionPause) {
			n++
		}
	}
	return n
}

// consumersAbsent: consumers that should have connected late could not. The messages for
// them are missing, but the broker did not lose them.
func consumersAbsent(e *evidence) []result.Reason {
	for _, ev := range e.run.Events {
		if ev.Kind == result.EventAbsent && ev.Workload == e.run.Header.Workload {
			return single(result.Reason{Status: result.Invalid, Code: result.ReasonConsumersAbsent,
				Found: fmt.Sprintf("%s could not connect (%s), so the messages for them were not delivered", spell.Plural(ev.Count, "consumer"), ev.Detail)})
		}
	}
	return nil
}

// leftInWindow is how many deliveries had been sent and not received when the window
// ended.
func (e *evidence) leftInWindow() int64 {
	var all result.Counters
	for _, p := range e.measure {
		all.Add(p.Counters)
	}
	return max(0, all.Expected-all.Received-all.Corrupted)
}
