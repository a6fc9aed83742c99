package judge

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// costsOf returns the costs of a run; those of results of earlier versions are computed.
func costsOf(run *result.Run, s *result.Summary) []result.Cost {
	if s.Costs != nil {
		return s.Costs
	}
	return costs(run, InputsOf(run).complete(run))
}

// during returns the costs of actions of a stretch; without one those of all. na says why there
// are none, or that one of the actions did not happen.
func during(run *result.Run, s *result.Summary, o scenario.Objective) (all []result.Cost, na string) {
	named := func(kind string) bool { return o.Stretch == "" || o.Stretch.During(scenario.ActionKind(kind)) }
	acts := planned(&run.Header)
	all = slices.Clone(costsOf(run, s))
	all = slices.DeleteFunc(all, func(c result.Cost) bool {
		return !slices.ContainsFunc(c.Actions, func(n int) bool { return n >= 1 && n <= len(acts) && named(acts[n-1].Kind) })
	})
	for _, x := range placed(run) {
		if p, _ := scenario.ActionKind(x.Action.Kind).Properties(); !x.Happened && !p.Scheduled && named(x.Action.Kind) {
			return all, "the action " + x.Action.Text + " did not happen"
		}
	}
	if len(all) == 0 {
		return nil, "no such action happened"
	}
	return all, ""
}

// ofCost decides about how long the effect of actions lasted: each must meet it.
func (d *Decision) ofCost(run *result.Run, s *result.Summary) {
	o := d.Objective
	all, na := during(run, s, o)
	worst, text, open := result.Within{}, "", ""
	for i := range all {
		c := &all[i]
		w := c.Unavailable
		if o.IsRecovery() {
			w = c.Recovered
		}
		what := actionNames(run, c) + " at " + span(c.From)
		switch {
		case w == nil && o.IsRecovery() && c.Effect == result.ImpactSeen:
			w, open = &result.Within{Least: c.NotRecovered}, "after "+what+" the latency did not recover before "+ended(run, c)
		case w == nil:
			w, open = &result.Within{}, "the effect of "+what+" is not known: "+c.Why
		case w.Most >= worst.Most && (w.Most > 0 || text == ""):
			if text = Range(*w) + " after " + what; c.Effect == result.ImpactNone {
				text = "no effect of " + what + " was seen"
				if w.Most > 0 {
					text += ", " + Range(*w) + " could not be"
				}
			}
		}
		worst.Least, worst.Most = max(worst.Least, w.Least), max(worst.Most, w.Most)
	}
	d.Text = joined(text, joined(open, na))
	least, most := o.Holds(float64(worst.Least)), o.Holds(float64(worst.Most))
	if unknown := open != "" || na != ""; unknown { // it may be anything from there on
		most = o.Op == ">" || o.Op == ">="
	}
	switch {
	case least && most && len(all) > 0:
		d.Outcome = Met
	case !least && !most && len(all) > 0:
		d.Outcome = Missed
	default:
		d.Outcome = Undecided
	}
}

// ended says what ended the stretch of a cost.
func ended(run *result.Run, c *result.Cost) string {
	if slices.ContainsFunc(placed(run), func(s Stretch) bool { return s.Happened && s.From == c.Until }) {
		return "the next action"
	}
	return "the run ended"
}

// Range writes a duration that is known to a range, for users.
func Range(w result.Within) string {
	switch {
	case span(w.Least) == span(w.Most):
		return span(w.Most)
	case w.Least == 0:
		return "at most " + span(w.Most)
	}
	return span(w.Least) + " to " + span(w.Most)
}

// ofStretch decides about a percentile, the maximum or the rate of a stretch.
func (d *Decision) ofStretch(run *result.Run, s *result.Summary) {
	o := d.Objective
	if run.Header.Mode != result.ModeOpen {
		d.Text = "the load had no schedule: it was a closed loop or flat out"
		return
	}
	if o.Stretch.Outside() {
		d.ofOutside(run, s)
		return
	}
	all, na := during(run, s, o)
	if len(all) == 0 {
		d.Outcome, d.Text = Undecided, na
		return
	}
	if o.IsRate() {
		d.rateOver(run, "during them", func(at int64) bool {
			return slices.ContainsFunc(all, func(c result.Cost) bool { return at >= c.From && at < max(c.Gone, c.From+1) })
		})
	} else {
		d.factDuring(run, all)
	}
	if na != "" && d.Outcome == Met {
		d.Outcome, d.Text = Undecided, d.Text+"; "+na
	}
}

// ofOutside decides about what lies outside of all effects: a percentile as that of a run that is
// as long as all of that together.
func (d *Decision) ofOutside(run *result.Run, s *result.Summary) {
	o, all := d.Objective, costsOf(run, s)
	if o.IsRate() {
		d.rateOver(run, "outside of their effects", func(at int64) bool {
			return !slices.ContainsFunc(all, func(c result.Cost) bool { return at >= c.From && at < max(c.Gone, c.From+1) })
		})
		return
	}
	if len(all) == 0 { // nothing happened, and all of the run is outside
		d.ofMetric(run, s)
		return
	}
	part, length := outside(run, all)
	m := result.Metric(o.Subject)
	if part == nil || total(part.Metrics[m]) == 0 {
		d.Outcome, d.Text = Undecided, "no message with "+o.Subject+" was due outside the effects of actions"
		return
	}
	of := *s
	of.End, of.Until = length, nil
	x := Distribution(m, part.Metrics[m], Samples(m, part.Metrics[m], part.Counters))
	setBlocks(x, m, part, Inputs{End: length})
	of.Histograms = map[result.Metric]*result.Distribution{m: x}
	d.ofMetric(part, &of)
	d.Text += "; over " + span(length) + " outside the effects of actions"
}

// factDuring decides about a percentile or the maximum of the messages that were due while actions
// had an effect. It is a fact of these messages, as a maximum is: another time it may be another.
// Which messages were due then is known to half of an interval of the file at either end, so it
// must hold with those of the cells at the ends and without.
func (d *Decision) factDuring(run *result.Run, all []result.Cost) {
	o, m, margin := d.Objective, result.Metric(d.Objective.Subject), int64(run.Header.Interval)/2
	in := func(less int64) *result.Merged {
		part, _ := run.DueIn(func(x *result.DueCell) bool {
			return slices.ContainsFunc(all, func(c result.Cost) bool {
				if less > 0 {
					return x.Start >= c.From+less && x.End <= c.Gone-less
				}
				return x.End > c.From-margin && x.Start < max(c.Gone, c.From+1)+margin
			})
		})
		return part.Metrics[m]
	}
	x := in(0)
	if total(x) == 0 {
		d.Outcome, d.Text = Undecided, "no message with "+o.Subject+" was due while they had an effect"
		return
	}
	samples := Samples(m, x, run.Counters)
	if needs := o.Samples(); samples < needs {
		d.Outcome = Undecided
		d.Text = fmt.Sprintf("%s were due while they had an effect, and p%g needs %s", spell.Plural(samples, "message"), o.Percent, spell.Count(needs))
		return
	}
	value, atLeast, refused := factOf(x, o.Percent)
	d.fact(o.Holds(value), "it is "+orRefused(refused, int64(min(value, math.MaxInt64/2)), atLeast)+" of the "+spell.Plural(samples, "message")+" due while they had an effect")
	if atLeast && (o.Op == "<" || o.Op == "<=") == (d.Outcome == Met) {
		d.Outcome, d.Text = Undecided, d.Text+", and may be more"
		return
	}
	if inner := in(max(margin, 1)); total(inner) > 0 {
		if v, _, _ := factOf(inner, o.Percent); o.Holds(v) != o.Holds(value) {
			d.Outcome, d.Text = Undecided, d.Text+"; when messages were due is known only to within "+span(margin)+", and the outcome depends on it"
		}
	}
}

// factOf returns a percentile, or the maximum, of values, +∞ where it is refused.
func factOf(x *result.Merged, percent float64) (value float64, atLeast, refused bool) {
	o := newOrder(x)
	rank := o.n
	if percent < 100 {
		rank = stats.Rank(o.n, percent)
	}
	if o.isRefused(rank) {
		return math.Inf(1), false, true
	}
	v, atLeast := o.value(rank)
	return float64(v), atLeast, false
}

// rateOver decides about the share of what was due that was sent, over the readings of the window
// whose middle is kept.
func (d *Decision) rateOver(run *result.Run, where string, keep func(at int64) bool) {
	var due, sent int64
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseMeasure {
			continue
		}
		for start, l := range p.Stretches {
			if keep(start + (l.At-start)/2) {
				due, sent = due+l.Due, sent+l.Sent
			}
		}
	}
	if due == 0 {
		d.Outcome, d.Text = Undecided, "nothing was due "+where
		return
	}
	if sent == due-1 { // the last message was due as the stretch ended
		sent = due
	}
	share := math.Round(float64(sent)/float64(due)*1e13) / 1e13
	d.fact(d.Objective.Holds(share), "it is "+strconv.FormatFloat(math.Round(share*1e13)/1e11, 'f', -1, 64)+" % "+where)
}
