package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// costs says what the actions of a run cost, in order of time, as docs/method.md has it. An
// action that comes before the effect of the one before it is gone, or so soon after it that
// nothing tells, makes one cost with it.
func costs(run *result.Run, in Inputs) (all []result.Cost) {
	acts := placed(run)
	acts = slices.DeleteFunc(acts, func(s Stretch) bool {
		p, _ := scenario.ActionKind(s.Action.Kind).Properties()
		return !s.Happened || p.Scheduled || s.From < 0 && s.Over <= 0 || s.From >= in.End && !s.Action.Filled
	})
	slices.SortStableFunc(acts, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	if len(acts) == 0 {
		return nil
	}
	grid, why := newLateGrid(run)
	causes := causesOf(run)
	end := in.End // of the records
	for _, p := range timedPoints(run) {
		end = max(end, p.End)
	}
	for len(acts) > 0 {
		c := &coster{run: run, grid: grid, why: why, before: all, end: end}
		n := 1
		for {
			c.until = end
			if n < len(acts) {
				c.until = acts[n].From
			}
			c.look(acts[:n])
			if n == len(acts) || !c.overlaps() {
				break
			}
			n++
		}
		for _, h := range scenario.Harms() {
			if slices.ContainsFunc(acts[:n], func(s Stretch) bool { return slices.Contains(causes(s.Number), h) }) {
				c.causes = append(c.causes, string(h))
			}
		}
		all = append(all, c.cost(acts[:n]))
		acts = acts[n:]
	}
	return all
}

// causesOf returns what the actions of a run can do to messages, by their numbers; everything where
// its scenario does not tell.
func causesOf(run *result.Run) func(number int) []scenario.Harm {
	var acts []scenario.Act
	if s, err := scenario.FromRecord("header", run.Header.Scenario); err == nil {
		acts = s.Acts()
	}
	return func(number int) []scenario.Harm {
		if len(acts) != len(planned(&run.Header)) {
			return scenario.Harms()
		}
		return acts[number-1].Causes()
	}
}

// coster makes one cost.
type coster struct {
	run    *result.Run
	grid   *lateGrid // nil: no response time could be divided
	why    string    // why the effect is not known
	before []result.Cost
	causes []string // what the actions can do to messages
	end    int64    // of the records, ns
	from   int64
	over   int64
	until  int64
	level  *level
	effect effect
}

// look looks for the effect of a number of actions together.
func (c *coster) look(acts []Stretch) {
	c.from, c.over = acts[0].From, acts[0].Over
	for _, s := range acts {
		c.over = max(c.over, s.Over)
	}
	if c.grid == nil {
		return
	}
	if c.level, c.why = c.grid.former(c.run, c.calm); c.level == nil {
		return
	}
	c.effect = c.grid.effect(c.level, c.from, c.over, c.until)
}

// calm reports whether a cell lies before the action and outside of the effects of those before
// it: by at least half of an interval of the file, since due instants are known no better.
func (c *coster) calm(x *result.DueCell) bool {
	margin := c.grid.interval / 2
	return x.End+margin <= c.from && !slices.ContainsFunc(c.before, func(b result.Cost) bool { return x.Start < b.Gone+margin && x.End > b.From-margin })
}

// overlaps reports whether the next action comes before the effect is known to be gone.
func (c *coster) overlaps() bool {
	switch {
	case c.over >= c.until:
		return true
	case c.level == nil:
		return false // nothing tells the effects apart, nor that they overlap
	case c.effect.first < 0:
		return c.effect.seen < inARow
	}
	return c.effect.back < 0
}

// cost returns what a number of actions together cost.
func (c *coster) cost(acts []Stretch) result.Cost {
	x := result.Cost{Causes: c.causes, From: c.from, Over: c.over, Gone: c.until, Until: c.until, Effect: result.ImpactUnknown, Why: c.why}
	for _, s := range acts {
		x.Actions = append(x.Actions, s.Number)
	}
	c.counts(&x)
	if c.grid == nil {
		x.LostAcked = c.lost(&x)
		return x
	}
	x.Metric = c.grid.metric
	c.failures(&x)
	if l := c.level; l != nil {
		x.Former = &l.FormerLevel
		switch {
		case c.effect.first >= 0:
			c.effects(&x)
		case c.effect.seen < inARow:
			x.Why = fmt.Sprintf("after it, only %s of %s had messages, and an effect needs %d to be seen: let it happen sooner", spell.Plural(int64(c.effect.seen), "cell"), span(l.Cell), inARow)
		default:
			c.none(&x)
		}
	}
	c.periods(&x)
	x.LostAcked = c.lost(&x)
	return x
}

// none describes that no effect was seen, and how long what could not be seen may have been: a time in which
// nothing was due, or a wait that is longer than all before, of too few messages for an effect. Where before it
// as many were late in a cell as an outage makes late, any late one counts.
func (c *coster) none(x *result.Cost) {
	g := c.grid
	x.Effect, x.Gone = result.ImpactNone, min(c.over, c.until)
	above := max(c.level.most, c.level.Late)
	if c.level.Worst >= outageShare {
		above = c.level.Late
	}
	hidden := max(g.outage(c.from, min(c.until, max(c.from, c.over)+2*c.level.Cell), above).Most, g.blind(c.from, min(c.over, c.until)))
	x.Unavailable, x.Recovered = &result.Within{Most: hidden}, &result.Within{Most: hidden}
}

// effects describes an effect that was seen.
func (c *coster) effects(x *result.Cost) {
	g, e := c.grid, &c.effect
	x.Effect, x.Again = result.ImpactSeen, e.again
	x.Recovered, x.Gone = nil, c.until
	if e.back >= 0 {
		last := &g.cells[e.last]
		x.Recovered = &result.Within{Least: max(0, last.Start-g.interval/2-c.from), Most: max(0, last.End+g.interval/2-c.from)}
		x.Gone = min(max(last.End, c.over), c.until)
	} else {
		x.NotRecovered = max(0, g.cells[e.last].Start-g.interval/2-c.from)
	}
	first := &g.cells[e.first]
	x.Detected = &result.Within{Least: max(0, first.Start-g.interval/2-c.from), Most: max(0, first.End+g.interval/2-c.from)}
	for _, above := range []int64{c.level.most, c.level.Late} {
		if s := g.firstSlot(max(c.from, first.Start-g.interval/2), first.End+g.interval/2, above); s >= 0 {
			x.Detected = &result.Within{Least: max(0, s-c.from), Most: s + g.slot - c.from}
			break
		}
	}
	x.Unavailable = g.outage(c.from, x.Gone, c.level.Late)
}

// firstSlot returns the start of the first slot that overlaps [from, to) and has a failed message
// or one slower than above; −1: none has.
func (g *lateGrid) firstSlot(from, to, above int64) int64 {
	for s := from / g.slot; s*g.slot < to; s++ {
		if v, failed := g.slotAt(s); failed || v > above {
			return s * g.slot
		}
	}
	return -1
}

// slotAt returns the largest value of a slot, ns, and whether it has messages that were refused or
// never answered; the value is 0 where refused messages hide it.
func (g *lateGrid) slotAt(s int64) (largest int64, failed bool) {
	if s < int64(len(g.x.Slots)) && g.x.Slots[s] != result.Refused {
		largest = g.x.Slots[s]
	}
	return largest, s < int64(len(g.failed)) && g.failed[s] > 0
}

// periods sets the latencies before, during and after.
func (c *coster) periods(x *result.Cost) {
	before := int64(0)
	if n := len(c.before); n > 0 {
		before = c.before[n-1].Gone
	}
	margin := c.grid.interval / 2
	during := func(d *result.DueCell) bool {
		return d.End > x.From-margin && d.Start < max(x.Gone, x.From+1)+margin
	}
	x.Before = c.period(before, x.From, func(d *result.DueCell) bool { return !during(d) && d.Start >= before && d.End <= x.From })
	x.During = c.period(x.From, x.Gone, during)
	x.After = c.period(x.Gone, x.Until, func(d *result.DueCell) bool {
		return !during(d) && d.Start >= x.Gone && (d.End+margin <= x.Until || x.Until >= c.grid.end())
	})
}

// period returns the latency of the messages that were due in some cells; nil without such messages.
func (c *coster) period(from, to int64, keep func(*result.DueCell) bool) *result.Period {
	part, _ := c.run.DueIn(keep)
	y := part.Metrics[c.grid.metric]
	if from >= to || total(y) == 0 {
		return nil
	}
	return &result.Period{From: from, To: to, Latency: Distribution(c.grid.metric, y, Samples(c.grid.metric, y, c.run.Counters))}
}

// outside returns the response times of the messages that were due while no action had an effect,
// and how long that was, ns; nil without any.
func outside(run *result.Run, all []result.Cost) (part *result.Run, length int64) {
	if len(all) == 0 {
		return nil, 0
	}
	margin := int64(run.Header.Interval) / 2
	part, length = run.DueIn(func(c *result.DueCell) bool {
		return !slices.ContainsFunc(all, func(x result.Cost) bool { return c.End > x.From-margin && c.Start < max(x.Gone, x.From+1)+margin })
	})
	return part, length
}

// setOutside sets the response times outside of the effects of actions.
func setOutside(run *result.Run, s *result.Summary) {
	part, length := outside(run, s.Costs)
	if part == nil {
		return
	}
	for m, y := range part.Metrics {
		if total(y) == 0 {
			continue
		}
		d := Distribution(m, y, Samples(m, y, part.Counters))
		setBlocks(d, m, part, Inputs{End: length})
		if s.Outside == nil {
			s.Outside = map[result.Metric]*result.Distribution{}
		}
		s.Outside[m] = d
	}
	s.ClosedLoop = closedLoopSays(run, s.Costs, part)
}

// closedLoopSays returns what a closed loop would have recorded of the metric of costs; outside has
// the messages that were due outside of effects. It is nil if none had an effect.
func closedLoopSays(run *result.Run, all []result.Cost, outside *result.Run) *result.Distribution {
	scenario, err := scenario.FromRecord("header", run.Header.Scenario)
	x := outside.Metrics[all[0].Metric]
	if err != nil || total(x) == 0 || x.Hist == nil {
		return nil
	}
	y := *x
	y.Hist = x.Hist.Clone()
	for _, c := range all {
		if c.Unavailable == nil || c.Unavailable.Most == 0 {
			continue
		}
		_, highest, _ := y.Hist.Layout()
		wait := min(c.Unavailable.Most, highest)
		_ = y.Hist.Record(wait, int64(scenario.Workload.Producers)) // in range: cannot fail
		y.Max = max(y.Max, wait)
	}
	if total(&y) == total(x) {
		return nil
	}
	return Distribution(all[0].Metric, &y, Samples(all[0].Metric, &y, run.Counters))
}

// actionNames names the actions of a cost.
func actionNames(run *result.Run, x *result.Cost) string {
	acts := planned(&run.Header)
	var names []string
	for _, n := range x.Actions {
		if n >= 1 && n <= len(acts) {
			names = append(names, acts[n-1].Kind)
		}
	}
	return strings.Join(names, ", ")
}
