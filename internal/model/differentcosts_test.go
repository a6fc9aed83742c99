package model

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"sixnines/result"
	"sixnines/scenario"
)

// costsSeen counts what the costs of runs have been, so that a test can tell that there was something to compare. It is
// safe for concurrent use.
type costsSeen struct {
	mu     sync.Mutex
	counts struct{ Effects, None, Unknown, Outages, Lost, Refused, Unanswered, Duplicated, Joined, NotBack, Unexplained int }
}

func (s *costsSeen) add(run *result.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	n := &s.counts
	for _, part := range run.Parts() {
		one(&n.Unexplained, part.Summary.Unexplained != nil)
		for i := range part.Summary.Costs {
			c := &part.Summary.Costs[i]
			one(&n.Effects, c.Effect == result.ImpactSeen)
			one(&n.None, c.Effect == result.ImpactNone)
			one(&n.Unknown, c.Effect == result.ImpactUnknown)
			one(&n.Outages, c.Unavailable != nil && c.Unavailable.Least > 0)
			one(&n.Lost, c.LostAcked != nil && c.LostAcked.Count > 0)
			one(&n.Refused, c.Refused > 0)
			one(&n.Unanswered, c.Unanswered != nil && *c.Unanswered > 0)
			one(&n.Duplicated, c.Duplicated > 0)
			one(&n.Joined, len(c.Actions) > 1)
			one(&n.NotBack, c.NotRecovered > 0)
		}
	}
}

// differentCosts holds what actions cost against what became of the messages.
func differentCosts(run *result.Run, o *Outcome) string {
	s := run.Summary
	if run.Header.Actions == nil && s.Costs != nil {
		return "there are costs without actions"
	}
	number := 0
	totals := map[string]int64{}
	for i := range s.Costs {
		c := &s.Costs[i]
		name := fmt.Sprintf("cost %d: ", i+1)
		for _, n := range c.Actions {
			if n <= number {
				return name + fmt.Sprintf("of the actions %v, after action %d", c.Actions, number)
			}
			number = n
		}
		next := int64(math.MaxInt64)
		if i+1 < len(s.Costs) {
			next = s.Costs[i+1].From
		}
		a := run.Header.Actions[c.Actions[0]-1]
		switch last := i+1 == len(s.Costs); {
		case a.Kind != "start" && c.From != a.At:
			return name + fmt.Sprintf("the action happened at %d, and must at %d", c.From, a.At)
		case !last && c.Until != next, last && c.Until < o.End:
			return name + fmt.Sprintf("its stretch ends at %d, and must at %d", c.Until, next)
		case c.Gone < min(c.Over, c.Until) || c.Gone > c.Until:
			return name + fmt.Sprintf("its effect is gone at %d, of %d to %d", c.Gone, c.Over, c.Until)
		case c.Effect == result.ImpactUnknown && (c.Why == "" || c.Unavailable != nil || c.Recovered != nil || c.Detected != nil):
			return name + fmt.Sprintf("an unknown effect has figures, or no reason: %+v", c)
		case !o.Paced && c.Effect != result.ImpactUnknown:
			return name + "a load without a schedule has an effect"
		}
		if d := differentCost(run, o, c, i+1 == len(s.Costs), totals); d != "" {
			return name + d
		}
	}
	return differentUnexplained(run, o, totals)
}

// differentCost compares one cost. It adds its numbers of messages to totals.
func differentCost(run *result.Run, o *Outcome, c *result.Cost, last bool, totals map[string]int64) string {
	can := func(harm string, n int64) int64 {
		if slices.Contains(c.Causes, harm) {
			return n
		}
		return 0
	}
	for name, got := range map[string]int64{"duplicated": c.Duplicated, "redelivered": c.Redelivered, "reordered": c.Reordered} {
		harm := name
		if name == "redelivered" {
			harm = "duplicated"
		}
		want := can(harm, o.cameIn(run, name, c.From, c.Until, last))
		if got != want {
			return fmt.Sprintf("%d %s, and must be %d", got, name, want)
		}
		totals[name] += got
	}
	if l := c.LostAcked; l != nil {
		totals["lost"] += l.Count
		if d := differentLosses(o, c); d != "" {
			return d
		}
	}
	m := string(c.Metric)
	if m == "" {
		return ""
	}
	// Those that were in flight count as well: half of the messages are no longer in flight after the median, of which the
	// file has the bucket.
	var refused, unanswered [2]int64
	for i, half := range []float64{float64(o.MedianWait(m)) / o.Bucket, float64(o.MedianWait(m)) * o.Bucket} {
		slot := func(at int64) int64 { return int64(math.Floor((float64(at-Slot/2) - half) / Slot)) }
		from, to := slot(c.From), slot(c.Until)
		if last {
			to = math.MaxInt64
		}
		for _, due := range o.RefusedDue {
			if s := due / Slot; s >= from && s < to {
				refused[i]++
			}
		}
		unanswered[i] = o.FailedIn(m, NeverAnswered, from, to)
	}
	between := func(n int64, of [2]int64) bool { return n >= min(of[0], of[1]) && n <= max(of[0], of[1]) }
	if want := [2]int64{can("refused", refused[0]), can("refused", refused[1])}; !between(c.Refused, want) && (o.Latencies["publish.response"] != nil || o.Fan > 0) {
		return fmt.Sprintf("%d refused, and must be %d", c.Refused, want)
	}
	if want := [2]int64{can("unanswered", unanswered[0]), can("unanswered", unanswered[1])}; c.Unanswered != nil && !between(*c.Unanswered, want) {
		return fmt.Sprintf("%d never answered, and must be %d", *c.Unanswered, want)
	}
	totals["refused"] += c.Refused
	if c.Unanswered != nil {
		totals["unanswered"] += *c.Unanswered
	}
	return differentEffect(run, o, c)
}

// differentEffect compares how long nothing was answered, and when the latency was back.
func differentEffect(run *result.Run, o *Outcome, c *result.Cost) string {
	m, interval := string(c.Metric), int64(run.Header.Interval)
	switch c.Effect {
	case result.ImpactNone:
		// No outage longer than all waits before is hidden by it.
		most := c.Former.Late
		for _, x := range o.messagesOf(m, math.MinInt64, c.From) {
			most = max(most, x.wait)
		}
		most = int64(float64(most) * o.Bucket)
		if least, _ := o.Outage(m, c.From, c.Over, most); least > c.Unavailable.Most+2*Slot {
			return fmt.Sprintf("no effect was seen, unavailable %+v, and nothing was answered for %d", *c.Unavailable, least)
		}
	case result.ImpactSeen:
		slack := 2*Slot + int64(float64(c.Former.Late)*o.Bucket)
		least, most := o.Outage(m, c.From, c.Gone, c.Former.Late)
		if u := c.Unavailable; u.Least > most+slack || u.Most < least-slack || u.Least > u.Most {
			return fmt.Sprintf("unavailable %+v, and must be from %d to %d", *u, least, most)
		}
		latest := int64(-1)
		for _, x := range o.messagesOf(m, max(c.From-2*interval, 0), c.Until) {
			if x.failed || float64(x.wait)*o.Bucket > float64(c.Former.Late) {
				latest = x.due
			}
		}
		back := c.NotRecovered
		if c.Recovered != nil {
			back = c.Recovered.Least
		}
		if latest < 0 || back > max(0, latest-c.From)+interval+c.Former.Cell {
			return fmt.Sprintf("not as before for %d after %d, and the last late message was due at %d", back, c.From, latest)
		}
		if c.Recovered != nil && c.Recovered.Most < c.Recovered.Least || c.Recovered != nil && c.NotRecovered != 0 || c.Detected == nil || c.Detected.Most < c.Detected.Least {
			return fmt.Sprintf("detected %+v, recovered %+v, not for %d", c.Detected, c.Recovered, c.NotRecovered)
		}
	}
	return ""
}

// differentLosses compares lost messages: those acknowledged before the effect was gone are in this cost or in one before, and
// no message is in it that was acknowledged long after it.
func differentLosses(o *Outcome, c *result.Cost) string {
	n := int64(0)
	for _, l := range o.Losses {
		if c.LostAcked.FromLog {
			n++
		} else {
			n += l.Deliveries
		}
	}
	if c.LostAcked.Count > n {
		return fmt.Sprintf("%d lost, of %d", c.LostAcked.Count, n)
	}
	if c.LostAcked.Count > 0 && c.LostAcked.Oldest < c.LostAcked.Newest {
		return fmt.Sprintf("the oldest lost message is younger than the newest: %+v", c.LostAcked)
	}
	return ""
}

// cameIn returns how many copies came in intervals that ended in an action's time.
func (o *Outcome) cameIn(run *result.Run, name string, from, until int64, last bool) (n int64) {
	for _, at := range o.Came[name] {
		end := int64(math.MaxInt64)
		for i := range run.Series {
			if p := &run.Series[i]; at <= p.End {
				end = min(end, p.End)
			}
		}
		if end > from && (last || end <= until) {
			n++
		}
	}
	return n
}

// differentUnexplained holds what is in no cost against the rest of what happened.
func differentUnexplained(run *result.Run, o *Outcome, totals map[string]int64) string {
	if len(run.Summary.Costs) == 0 {
		return ""
	}
	var u result.Unexplained
	if run.Summary.Unexplained != nil {
		u = *run.Summary.Unexplained
	}
	for name, got := range map[string]int64{"duplicated": u.Duplicated, "redelivered": u.Redelivered, "reordered": u.Reordered} {
		if want := o.Counters[name] - totals[name]; got != want {
			return fmt.Sprintf("%d %s that no action explains, and must be %d", got, name, want)
		}
	}
	if m := string(run.Summary.Costs[0].Metric); m != "" {
		if want := int64(len(o.RefusedDue)) - totals["refused"]; u.Refused != want && (o.Latencies["publish.response"] != nil || o.Fan > 0) {
			return fmt.Sprintf("%d refused that no action explains, and must be %d", u.Refused, want)
		}
		if want := o.FailedIn(m, NeverAnswered, math.MinInt64, math.MaxInt64) - totals["unanswered"]; u.Unanswered != want {
			return fmt.Sprintf("%d never answered that no action explains, and must be %d", u.Unanswered, want)
		}
	}
	if b := run.ReadBack; b.Decided() {
		want := -totals["lost"]
		for _, l := range o.Losses {
			if b.Whole && b.Gone != nil {
				want++
			} else {
				want += l.Deliveries
			}
		}
		if u.LostAcked != want {
			return fmt.Sprintf("%d lost that no action explains, and must be %d", u.LostAcked, want)
		}
	}
	return ""
}

// costOutcomes returns the possible outcomes of an objective about what actions cost: about the longest outage or recovery of
// all, or about what was due outside of their effects.
func (o *Outcome) costOutcomes(run *result.Run, x scenario.Objective) []string {
	all := run.Summary.Costs
	if !x.IsTime() {
		if len(all) == 0 {
			return o.ofLatency(x)
		}
		var periods [][2]int64
		for i := range all {
			periods = append(periods, [2]int64{all[i].From, max(all[i].Gone, all[i].From+1)})
		}
		cell := 2 * int64(run.Header.Interval)
		for i := range all {
			if f := all[i].Former; f != nil {
				cell = max(cell, f.Cell)
			}
		}
		return append(o.Outside(x, periods, 2*max(cell, Slot)), undecided)
	}
	least, most := int64(0), int64(0)
	for i := range all {
		c := &all[i]
		w := c.Unavailable
		if x.IsRecovery() {
			if w = c.Recovered; c.NotRecovered > 0 {
				least = max(least, c.NotRecovered)
			}
		}
		if w == nil {
			most = math.MaxInt64
			continue
		}
		least, most = max(least, w.Least), max(most, w.Most)
	}
	switch {
	case len(all) == 0:
		return []string{undecided}
	case float64(most) < x.Limit:
		return []string{met}
	case float64(least) >= x.Limit:
		return []string{missed}
	}
	return []string{undecided}
}
