package judge

import (
	"cmp"
	"math"
	"slices"

	"sixnines/result"
)

// counts sets what was counted by when it came, and what was seen of connections and the backlog.
func (c *coster) counts(x *result.Cost) {
	for _, p := range timedPoints(c.run) {
		if p.End > x.From && p.Start < x.Until {
			x.Duplicated += p.Counters.Duplicated
			x.Redelivered += p.Counters.Redelivered
			x.Reordered += p.Counters.Reordered
		}
	}
	x.Reconnects = reconnects(c.run, x.From, x.Until)
	x.Backlog = c.backlog(x)
}

// failures sets how many messages failed that were due from the action's slot to the next one's.
func (c *coster) failures(x *result.Cost) {
	g := c.grid
	in := func(due [][2]int64) (n int64) {
		for _, p := range due {
			if p[0] >= x.From/g.slot && (p[0] < x.Until/g.slot || x.Until >= g.end()) {
				n += p[1]
			}
		}
		return n
	}
	x.Refused = in(g.x.RefusedAt)
	var known int64
	for _, p := range g.x.UnansweredAt {
		known += p[1]
	}
	if known == censored(g.x) {
		n := in(g.x.UnansweredAt)
		x.Unanswered = &n
	}
}

// lost returns the messages that were acknowledged from the former effect's end to that of this
// one, and are lost; nil if that was not read back.
func (c *coster) lost(x *result.Cost) *result.CostLost {
	r := c.run.ReadBack
	if !r.Decided() {
		return nil
	}
	var l result.CostLost
	all := r.Lost
	if r.Whole && r.Gone != nil {
		all, l.FromLog = r.Gone, true
	}
	from := int64(math.MinInt64)
	if n := len(c.before); n > 0 {
		from = c.before[n-1].Gone
	}
	to := max(x.Gone, x.From+1)
	if x.Gone == x.Until {
		to = math.MaxInt64 // the effect was not seen to end
	}
	var first, last int64
	if l.Count, first, last = all.Within(from, to); l.Count > 0 {
		l.Oldest, l.Newest = x.From-first, x.From-last
	}
	return &l
}

// reconnects returns the connections that were lost in [from, until), and those made again from
// there on, as far as as many had been lost; nil if none was lost.
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
