package judge

import (
	"fmt"
	"math"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// backlogIntervals is how many intervals the last third of the window must
	// have for a trend to be told apart from chance.
	backlogIntervals = 4
	// backlogGrowth is the least growth over the last third that matters, as a share
	// of the messages due in it: only longer runs can distinguish a system that keeps
	// up within 1 % from one that does not.
	backlogGrowth = 0.01
	// backlogReturn is the part of its height to which a backlog must fall in
	// the drain to count as cleared.
	backlogReturn = 0.5
	// backlogSpeed is how much faster than the load the backlog must clear in
	// the drain for the system to have had any capacity to spare.
	backlogSpeed = 1.05
	// backlogStragglers is the part of its peak that a backlog may still have when it counts
	// as cleared, if that part takes as long as all the rest: a message that arrives seconds
	// after all others, because the broker gave it to a consumer that was lost, says nothing
	// about capacity.
	backlogStragglers = 0.05
	// backlogSuspect is the share of the messages due, and backlogFew the number of messages,
	// that must be exceeded by the unresolved ones at the end of a window too short for a
	// trend, to be a reason.
	backlogSuspect = 0.1
	backlogFew     = 10
)

// backlogGrows: the backlog (messages due or in flight) grows over the last third of the
// window and does not return in the drain. Then there is no steady state: the percentiles
// measure the length of the run (METHOD: "the opposite error").
//
// Lost messages never return either, and are no backlog, nor are those that were overtaken and may
// be lost ([result.Interval.Lost]): they are subtracted from the instant at which they were due
// ([evidence.waiting]).
//
// Returning has two conditions, because the load goes on in the drain while only the
// measured messages are counted, and those end even in overload: the backlog must fall,
// and the measured messages must be cleared faster than new ones were due. A queue that
// clears no faster than the load arrives is still as long when the measured messages have
// left it.
//
// The slope must be above zero with confidence (Student's t on the intervals'
// ends) and by its size: successive readings of a queue are not independent,
// which makes its standard error too small.
func backlogGrows(e *evidence) []result.Reason {
	if !e.paced() || e.in.CutShort || e.in.Aborted { // without a drain it cannot be known
		return nil
	}
	var x, y, flight []float64 // s; messages due or in flight; messages in flight only
	var due int64
	waiting, inFlight := e.waiting(), e.waiting()
	var starts []int64
	var readings []result.Level
	for start, l := range e.readings {
		starts, readings = append(starts, start), append(readings, l)
	}
	// The last third, or in a short window as many intervals as a slope needs.
	from := e.in.End - e.in.End/3
	if n := len(readings) - backlogIntervals; n >= 0 {
		from = min(from, readings[n].At)
	}
	if k := e.summary.Backlog; k != nil && (k.Gone == 0 || k.Gone > from) {
		return nil // the scenario asked for this backlog: see backlogKept
	}
	began := e.in.End
	for i, l := range readings {
		if l.At < from {
			continue
		}
		began = min(began, starts[i])
		x = append(x, float64(l.At)/1e9)
		y = append(y, waiting(l))
		l.Backlog = 0
		flight = append(flight, inFlight(l))
		due += l.Due
	}
	if len(x) < backlogIntervals {
		return e.tooShort()
	}
	line, grows := growing(x, y, due)
	if !grows {
		return nil
	}
	if still := e.nothingComes(from); still != nil {
		return still
	}
	if s := e.unfinished(); s != nil && e.explainsBacklog(s, starts, readings) {
		return note(result.ReasonBacklog, fmt.Sprintf("when the window ended %s were due or in flight: the effect of the action %s was not gone",
			spell.Plural(int64(math.Round(y[len(y)-1])), "message"), s.Action.Text))
	}
	lost := e.overtaken()
	peak := y[len(y)-1] - lost
	if peak <= max(backlogGrowth*float64(due), 1) { // the backlog at the window's end is negligible
		return nil
	}
	lowest, drained := peak, false
	speed := peak / float64(max(e.in.Resolved-e.in.End, 1)) // messages cleared per ns of the drain
	for _, p := range e.timed {
		if p.Phase != result.PhaseDrain {
			continue
		}
		for _, l := range p.Stretches {
			left := waiting(l) - lost
			lowest, drained = min(lowest, left), true
			if t := max(l.At-e.in.End, 1); left <= backlogStragglers*peak && 2*t <= e.in.Resolved-e.in.End {
				speed = max(speed, (peak-left)/float64(t))
			}
		}
	}
	load := float64(due) / max(x[len(x)-1]-float64(began)/1e9, 1e-9)
	if drained && lowest <= max(backlogReturn*peak, y[0]) && speed*1e9 > backlogSpeed*load {
		return nil
	}
	if own := e.generatorBehind(x, flight, due); own != nil {
		return own
	}
	return e.overload(fmt.Sprintf(
		"overload: the backlog (messages due or in flight) grew by %s over the last third of the window, to %s, and did not shrink in the drain",
		spell.Rate(math.Round(line.Slope)), spell.Plural(int64(math.Round(peak)), "message")))
}

// growing reports whether a backlog y, messages, read at instants x, s, grows: with confidence, and by
// a part of the messages due meanwhile that matters.
func growing(x, y []float64, due int64) (stats.Line, bool) {
	line, ok := stats.FitLine(x, y)
	if !ok {
		return line, false
	}
	lo, _ := line.SlopeInterval(confidence)
	return line, lo > 0 && line.Slope*(x[len(x)-1]-x[0]) > max(backlogGrowth*float64(due), 1)
}

// explainsBacklog reports whether an action whose effect lasted to the end of the window explains the
// backlog there. It does not where the backlog had grown before, over all readings and over their last
// third; where too few readings before it show that; and where it still grew although all actions were
// over and messages came through again: then the load is more than the system carries.
func (e *evidence) explainsBacklog(s *Stretch, starts []int64, readings []result.Level) bool {
	grew := func(from, to int64) (known, grew bool) {
		var x, y []float64
		var due int64
		waiting := e.waiting()
		for i, l := range readings {
			left := waiting(l)
			if starts[i] >= from && l.At <= to {
				x, y, due = append(x, float64(l.At)/1e9), append(y, left), due+l.Due
			}
		}
		if len(x) < backlogIntervals {
			return false, false
		}
		_, grew = growing(x, y, due)
		return true, grew
	}
	known, all := grew(0, s.From)
	if _, late := grew(s.From-s.From/3, s.From); !known || all && late {
		return false
	}
	over := s.Over
	for i := range e.acts {
		a := &e.acts[i]
		p, _ := scenario.ActionKind(a.Action.Kind).Properties()
		if p.Restarts && a.Action.For == 0 {
			return true // its nodes stay away
		}
		over = max(over, a.Over)
	}
	metric, again := e.latencies(), e.in.End
	for _, p := range e.measure {
		if len(metric) > 0 && p.Start >= over && p.Metrics[metric[0]].Count > 0 {
			again = p.Start
			break
		}
	}
	_, still := grew(e.in.End-(e.in.End-again)/3, e.in.End)
	return !still
}

// leastReading is the least distance between two readings of a backlog, ns: closer readings of
// a short run are correlated and show a false trend. The first reading in each such period
// counts; it may come up to readingJitter early, because the ends of intervals jitter.
const (
	leastReading  = int64(100 * time.Millisecond)
	readingJitter = int64(time.Millisecond)
)

// readings yields the levels of the window that are far enough apart. Due and Sent of each
// count the messages since start, which is the instant of the previous one, ns.
func (e *evidence) readings(yield func(start int64, l result.Level) bool) {
	from, open := int64(0), false
	var sum result.Level
	for _, p := range e.measure {
		for start, l := range p.Stretches {
			if !open {
				from, open, sum = start, true, result.Level{}
			}
			l.Due, l.Sent = l.Due+sum.Due, l.Sent+sum.Sent
			if sum = l; (l.At+readingJitter)/leastReading == (from+readingJitter)/leastReading {
				continue
			}
			if open = false; !yield(from, l) {
				return
			}
		}
	}
	if open {
		yield(from, sum)
	}
}

// overload is the finding that a backlog did not return, with the share of the asked rate that
// the system carried.
func (e *evidence) overload(found string) []result.Reason {
	r := result.Reason{Status: result.Unstable, Code: result.ReasonBacklog, Found: found, Means: "the percentiles depend on the length of the run and describe no steady state"}
	if share, ok := e.carried(); ok {
		r.Brief = "carried " + spell.Share(share) + " of the asked rate"
	}
	return []result.Reason{r}
}

// nothingComes is the finding that from an instant of the window on, ns, no message of the
// run's first latency was resolved, not even in the drain; else it is nil. An overloaded system
// still carries part of its load. These messages are lost, or the broker or its consumers
// hang, and a lower rate would not change that. The percentiles have them as lower bounds.
func (e *evidence) nothingComes(from int64) []result.Reason {
	all := e.latencies()
	if len(all) == 0 {
		return nil
	}
	for _, p := range e.timed {
		if p.Start >= from && p.Metrics[all[0]].Count > 0 {
			return nil
		}
	}
	text := "no message came through"
	if d := e.summary.Histograms[all[0]]; d.Count > 0 {
		text = fmt.Sprintf("no message came through after %s", span(from))
	}
	return single(result.Reason{Status: result.Valid, Code: result.ReasonNothingCame, Found: text + ", not even in the drain: messages are lost, or the broker or its consumers hang",
		Means: "this is not an overload, in which part of the load still comes through; the messages count in the percentiles as lower bounds"})
}

// carried returns the rate at which messages of the window were resolved, as a share of the
// rate at which they were due. The time counts from the interval with the first resolved
// message, because messages left over from the warm-up arrive before it, to the end of the
// window; if no message was resolved in the window, the drain is used instead.
// ok is false if no message was resolved, and if the share is 99.5 % or more.
func (e *evidence) carried() (share float64, ok bool) {
	all := e.latencies()
	if len(all) == 0 {
		return 0, false
	}
	var due int64
	for _, p := range e.measure {
		due += p.Counters.Scheduled
	}
	perSecond := float64(due) / e.window() * 1e9
	if c := e.run.Counters; c.Expected > 0 && c.Sent > 0 && (all[0] == result.DeliveryResponse || all[0] == result.DeliveryService) {
		perSecond *= float64(c.Expected) / float64(c.Sent) // deliveries of a message
	}
	for _, phase := range []string{result.PhaseMeasure, result.PhaseDrain} {
		var resolved, from, to int64
		for _, p := range e.timed {
			n := p.Metrics[all[0]].Count
			if p.Phase != phase || n == 0 && resolved == 0 {
				continue
			}
			if resolved == 0 {
				from = p.Start
			}
			resolved, to = resolved+n, p.End
		}
		if resolved > 0 && to > from && perSecond > 0 {
			share = float64(resolved) / (float64(to-from) / 1e9) / perSecond
			return share, share < 0.995
		}
	}
	return 0, false
}

// tooShort is the reason for a large backlog at the end of a window too short for a trend.
func (e *evidence) tooShort() []result.Reason {
	if len(e.measure) == 0 {
		return nil
	}
	var due, readings int64
	var last result.Level
	for _, l := range e.readings {
		last, due, readings = l, due+l.Due, readings+1
	}
	left := int64(math.Round(e.waiting()(last)))
	if float64(left) <= max(backlogSuspect*float64(due), backlogFew) {
		return nil
	}
	if still := e.nothingComes(0); still != nil {
		return still
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonBacklog, Brief: "overload or slow answers: the run is too short to tell", Found: fmt.Sprintf(
		"when the window ended, %s of its %s were still due or in flight; %s are too few to tell overload from slow answers",
		spell.Count(left), spell.Plural(due, "message"), spell.Plural(readings, "interval")), Try: "run longer (--duration)"})
}

// waiting returns a function that gives the messages due or in flight at a reading, without
// those of [result.Interval.Lost] that were due earlier. In the slot that contains the reading,
// losses are taken to be spread evenly. The function keeps its position in the list of losses,
// so it must be called in the order of the readings; each pass needs a function of its own.
func (e *evidence) waiting() func(result.Level) float64 {
	c := e.run.Counters
	lost, slot := e.run.Lost, int64(e.run.Header.Slot)
	perDelivery := float64(c.Sent) / float64(max(c.Expected, 1))
	var all, before int64
	for _, s := range lost {
		all += s[1]
	}
	if all > c.Missing { // the list also has damaged messages whose number was damaged
		perDelivery *= float64(max(c.Missing, 0)) / float64(all)
	}
	return func(l result.Level) float64 {
		for len(lost) > 0 && (lost[0][0]+1)*slot <= l.At {
			before += lost[0][1]
			lost = lost[1:]
		}
		gone := float64(before)
		if len(lost) > 0 && lost[0][0]*slot < l.At {
			gone += float64(lost[0][1]) * float64(l.At-lost[0][0]*slot) / float64(slot)
		}
		return max(float64(l.InFlight+l.Backlog)-gone*perDelivery, 0)
	}
}

// overtaken returns how many messages in flight at the end are known to be lost,
// for a file that does not say when they were due.
func (e *evidence) overtaken() float64 {
	c := e.run.Counters
	if c.Expected == 0 || len(e.run.Lost) > 0 {
		return 0
	}
	return float64(c.LostAcked) * float64(c.Sent) / float64(c.Expected)
}
