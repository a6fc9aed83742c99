package study

import (
	"cmp"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// outsidePrefix marks percentiles of the messages that were due while no action had an effect.
const outsidePrefix = "outside."

// costFigures returns the figures of what actions cost, with their units.
func costFigures() map[string]Unit {
	return map[string]Unit{"unavailable": Nanoseconds, "recovered": Nanoseconds, "lost.oldest": Nanoseconds,
		"lost": Count, "acknowledged": Count, "duplicated": Count}
}

// cost reads a figure of what the actions of a run cost. Counts are exact, so only an INVALID run
// makes them unfit.
func (f *Figure) cost(run *result.Run, name string) {
	s := run.Summary
	if len(s.Costs) == 0 && run.ReadBack == nil {
		f.Missing = NotMeasured
		return
	}
	exact := func(n int64) { f.Value, f.Low, f.High, f.Bounded = float64(n), float64(n), float64(n), true }
	if f.Unit == Count && s.Verdict.Status != result.Invalid {
		f.Unfit, f.Cause, f.Selects = "", "", false
	}
	switch name {
	case "acknowledged":
		exact(run.Counters.Acked)
	case "duplicated":
		exact(run.Counters.Duplicated)
	case "lost":
		f.lost(run)
	case "lost.oldest":
		f.oldest(run)
	default:
		f.longest(s.Costs, name == "recovered")
		f.suspectWholly(s.Verdict)
		f.boundPlain(run, name)
	}
}

func (f *Figure) lost(run *result.Run) {
	if run.Counters.Acked == 0 {
		f.Missing = "nothing was acknowledged"
		return
	}
	least, most := run.LostAcked()
	if least == 0 && most > 0 {
		f.Missing = "not known: what the broker keeps was not read back"
		return
	}
	f.Value, f.Low, f.High, f.Bounded, f.AtLeast = float64(least), float64(least), float64(most), true, most > least
}

// oldest reads how long before an action the first lost message was acknowledged, of all actions
// the longest.
func (f *Figure) oldest(run *result.Run) {
	least, most := run.LostAcked()
	known := false
	for i := range run.Summary.Costs {
		if l := run.Summary.Costs[i].LostAcked; l != nil && l.Count > 0 {
			f.Value, known = max(f.Value, float64(l.Oldest)), true
		}
	}
	switch {
	case known:
		f.AtLeast = undated(run) > 0
		f.Low, f.High, f.Bounded = f.Value, f.Value, !f.AtLeast
	case most == 0:
		f.Missing = "none is lost"
	case least == 0:
		f.Missing = "it is not known whether one is lost"
	default:
		f.Missing = "not read back"
	}
}

// undated returns how many lost messages have no instant of their acknowledgement.
func undated(run *result.Run) (n int64) {
	for _, l := range []*result.Losses{run.ReadBack.Lost, run.ReadBack.Gone} {
		if l != nil {
			n += l.Undated
		}
	}
	return n
}

// longest reads the longest outage or recovery of all actions.
func (f *Figure) longest(all []result.Cost, recovery bool) {
	if len(all) == 0 {
		f.Missing = NotMeasured
		return
	}
	var w result.Within
	for i := range all {
		c := &all[i]
		x := c.Unavailable
		if recovery {
			x = c.Recovered
		}
		switch {
		case x != nil:
			w.Least, w.Most = max(w.Least, x.Least), max(w.Most, x.Most)
		case c.Effect == result.ImpactSeen:
			f.Missing, f.Selects = "not as before by the end", true
			return
		default:
			f.Missing = cmp.Or(c.Why, "not known")
			return
		}
	}
	f.Value, f.Low, f.High, f.Bounded, f.Range = float64(w.Least+w.Most)/2, float64(w.Least), float64(w.Most), true, true
}

// outside reads a percentile of the messages that were due while no action had an effect. Without an
// action these are all.
func (f *Figure) outside(run *result.Run, m result.Metric, text result.Percentile, percent float64) {
	whole := run.Summary.Histograms[m]
	if len(run.Summary.Costs) == 0 {
		f.latency(run, m, whole, run.Metrics[m], text, percent)
		return
	}
	d := run.Summary.Outside[m]
	f.latency(run, m, d, nil, text, percent)
	if f.Missing != "" || whole == nil || f.Unfit != "" {
		return
	}
	// The noise floor is known against the whole run.
	if all := whole.Figures[text]; all.FloorRatio != nil && all.Value > 0 && *all.FloorRatio*f.Value/float64(all.Value) < floorMatters {
		f.Unfit, f.Selects = "below "+spell.Count(floorMatters)+" times the noise floor", true
	}
}

// costRead reads a figure of what actions cost; false: it is not one of these.
func (f *Figure) costRead(run *result.Run, name string, metric result.Metric) bool {
	if rest, ok := strings.CutPrefix(name, outsidePrefix); ok {
		text, percent, _ := percentile(rest)
		f.outside(run, metric, text, percent)
		return true
	}
	if _, ok := costFigures()[name]; !ok {
		return false
	}
	f.cost(run, name)
	return true
}
