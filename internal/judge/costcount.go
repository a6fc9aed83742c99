package judge

import (
	"cmp"
	"math"
	"slices"

	"sixnines/result"
	"sixnines/scenario"
)

// can reports whether the actions can have done something to messages.
func (c *coster) can(h scenario.Harm) bool { return slices.Contains(c.causes, string(h)) }

// counts sets what was counted by when it came, and what was seen of connections and the backlog. An interval is of
// the action in whose time it ended.
func (c *coster) counts(x *result.Cost) {
	for _, p := range timedPoints(c.run) {
		if p.End <= x.From || p.End > x.Until {
			continue
		}
		if c.can(scenario.HarmDuplicated) {
			x.Duplicated += p.Counters.Duplicated
			x.Redelivered += p.Counters.Redelivered
		}
		if c.can(scenario.HarmReordered) {
			x.Reordered += p.Counters.Reordered
		}
	}
	x.Reconnects = reconnects(c.run, x.From, x.Until)
	x.Backlog = c.backlog(x)
}

// failures sets how many messages failed that were due, or in flight, from the action on until the next one.
func (c *coster) failures(x *result.Cost) {
	g := c.grid
	in := func(due [][2]int64, h scenario.Harm) (n int64) {
		for _, p := range due {
			if c.can(h) && p[0] >= g.inFlight(x.From) && (p[0] < g.inFlight(x.Until) || x.Until >= g.end()) {
				n += p[1]
			}
		}
		return n
	}
	r := refusedMessages(c.run, g.x)
	x.Refused = r.messages(in(r.due, scenario.HarmRefused))
	if n, known := unanswered(g.x); known {
		n = in(g.x.UnansweredAt, scenario.HarmUnanswered)
		x.Unanswered = &n
	}
}

// inFlight returns the slot from which on messages were due that may have been in flight at an instant, as long as half
// of all are: an action fails them as well.
func (g *lateGrid) inFlight(at int64) int64 {
	return int64(math.Floor(float64(at-g.slot/2-g.half) / float64(g.slot)))
}

// refusedDue are messages that were refused, by the slot in which they were due.
type refusedDue struct {
	due [][2]int64
	// each is how many entries of due a message has, on average: each of its deliveries is one.
	each float64
}

// refusedMessages returns those of a run, by the acknowledgements if there are any, since a message has
// one of these, else by the deliveries of a metric.
func refusedMessages(run *result.Run, x *result.Merged) refusedDue {
	r := refusedDue{due: x.RefusedAt, each: 1}
	n := run.Counters.Nacked + run.Counters.Rejected
	if y := run.Metrics[result.PublishResponse]; y != nil && y.Refused == n {
		r.due = y.RefusedAt
	} else if n > 0 {
		r.each = float64(x.Refused) / float64(n)
	}
	return r
}

// messages returns how many messages a number of entries are.
func (r refusedDue) messages(entries int64) int64 {
	return int64(math.Round(float64(entries) / max(r.each, 1)))
}

// unanswered returns how many messages of a metric were never answered, and whether it is known when all
// of these were due.
func unanswered(x *result.Merged) (n int64, known bool) {
	for _, p := range x.UnansweredAt {
		n += p[1]
	}
	return n, n == censored(x)
}

// lost returns the messages that were acknowledged from the end of the former effect that can have lost any to
// that of this one, and are lost; nil if that was not read back, or if the actions cannot have lost them.
func (c *coster) lost(x *result.Cost) *result.CostLost {
	all, whole := lostMessages(c.run.ReadBack)
	if !c.run.ReadBack.Decided() || !c.can(scenario.HarmLost) {
		return nil
	}
	l := result.CostLost{FromLog: whole}
	from := int64(math.MinInt64)
	for i := range c.before {
		if b := &c.before[i]; slices.Contains(b.Causes, string(scenario.HarmLost)) {
			from = c.answered(b)
		}
	}
	to := c.answered(x)
	if x.Gone == c.end {
		to = math.MaxInt64 // the effect was not seen to end
	}
	var first, last int64
	if l.Count, first, last = all.Within(from, to); l.Count > 0 {
		l.Oldest, l.Newest = x.From-first, x.From-last
	}
	return &l
}

// answered returns until when what was due in the effect of an action was answered.
func (c *coster) answered(x *result.Cost) int64 {
	at := max(x.Gone, x.From+1)
	if c.grid == nil || x.Effect != result.ImpactSeen {
		return at
	}
	return max(at, c.grid.answered(x.From, x.Gone))
}

// lostMessages returns which acknowledged messages are lost: those that are gone from a log that keeps what was
// delivered, else those that were not delivered either.
func lostMessages(r *result.ReadBack) (all *result.Losses, fromLog bool) {
	switch {
	case r == nil:
		return nil, false
	case r.Whole && r.Gone != nil:
		return r.Gone, true
	}
	return r.Lost, false
}

// unexplained returns what happened to messages of a run and is in no cost of its actions; nil: nothing.
func unexplained(run *result.Run, all []result.Cost) *result.Unexplained {
	if len(all) == 0 {
		return nil
	}
	var u result.Unexplained
	for _, p := range timedPoints(run) {
		u.Duplicated += p.Counters.Duplicated
		u.Redelivered += p.Counters.Redelivered
		u.Reordered += p.Counters.Reordered
	}
	if g, _ := newLateGrid(run); g != nil {
		r := refusedMessages(run, g.x)
		var refused int64
		for _, p := range r.due {
			refused += p[1]
		}
		u.Refused = r.messages(refused)
		if n, known := unanswered(g.x); known {
			u.Unanswered = n
		}
	}
	if lost, _ := lostMessages(run.ReadBack); lost != nil && run.ReadBack.Decided() {
		u.LostAcked = lost.Count
	}
	for i := range all {
		c := &all[i]
		u.Duplicated -= c.Duplicated
		u.Redelivered -= c.Redelivered
		u.Reordered -= c.Reordered
		u.Refused -= c.Refused
		if c.Unanswered != nil {
			u.Unanswered -= *c.Unanswered
		}
		if c.LostAcked != nil {
			u.LostAcked -= c.LostAcked.Count
		}
	}
	if u == (result.Unexplained{}) {
		return nil
	}
	return &u
}

// reconnects returns the connections that were lost in [from, until), and those made again from
// there on, at most the number that had been lost; nil if none was lost.
func reconnects(run *result.Run, from, until int64) *result.Reconnects {
	events := slices.Clone(run.Events)
	slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.At, b.At) })
	var lost []int64 // when, of those not yet made again
	var r result.Reconnects
	var sum int64
	for _, e := range events {
		if e.At < from || e.At >= until || e.Workload != run.Header.Workload {
			continue
		}
		for i := range e.Happened() {
			at := e.At
			if i > 0 {
				at = e.Until()
			}
			switch {
			case e.Kind == result.EventDisconnected:
				r.Lost++
				lost = append(lost, at)
			case e.Kind == result.EventReconnected && len(lost) > 0:
				r.Made++
				sum += at - lost[0]
				r.Longest = max(r.Longest, at-lost[0])
				lost = lost[1:]
			}
		}
	}
	switch {
	case r.Lost == 0:
		return nil
	case r.Made > 0:
		r.Mean = sum / r.Made
	}
	return &r
}

// backlog returns how what was due and not answered grew and fell; nil if it did not exceed what
// it was before by more than chance gives.
func (c *coster) backlog(x *result.Cost) *result.CostBacklog {
	since := int64(0)
	for _, b := range c.before {
		since = b.Gone
	}
	var b result.CostBacklog
	for _, p := range timedPoints(c.run) {
		for _, l := range p.Stretches {
			n := l.Backlog + l.InFlight
			switch {
			case l.At > since && l.At <= x.From:
				b.Before = max(b.Before, n)
			case l.At > x.From && l.At <= x.Until && n > b.Peak:
				b.Peak, b.PeakAt, b.Gone = n, l.At, 0
			case l.At > max(x.Over, b.PeakAt) && l.At <= x.Until && b.Gone == 0 && n <= max(b.Before, int64(math.Ceil(backlogCleared*float64(b.Peak)))):
				b.Gone = l.At
			}
		}
	}
	if float64(b.Peak) <= chance(2*float64(b.Before)) {
		return nil
	}
	return &b
}
