package study

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// over calls [readOver] and notes the files used.
func (d *decider) over(c *CellOutcome, name string) Over {
	d.read(c, name) // notes files
	at := d.level
	if x := d.fixed[c.Cell.Name]; x != nil {
		at = level(x.Confidence)
	}
	return readOver(c, name, d.t.Metric, d.t.Workload, at)
}

// matched returns the outcomes of the cells that the test's patterns match, and notes those
// without a run. complete says that at least one cell matches and every match has a run.
func (d *decider) matched() (all []*CellOutcome, complete bool) {
	complete = true
	for _, c := range d.o.Match(d.t.Cells) {
		if d.cell(c.Cell.Name) == nil {
			complete = false
			continue
		}
		all = append(all, c)
	}
	if len(all) == 0 && complete {
		d.say("none of its cells is in the length %s", d.o.Length)
		d.need(d.longer())
	}
	return all, complete && len(all) > 0
}

// bounds compares figures of cells with a bound.
func (d *decider) bounds() Verdict {
	cells, all := d.matched()
	for _, c := range cells {
		whole := true
		for _, name := range d.t.Figures {
			o := d.over(c, name)
			limit, err := bound(d.t.Bound, o.Unit)
			if err != nil {
				d.say("%v", err)
				return Undecidable
			}
			below, above := o.Most < limit, o.Least > limit
			whole = whole && (below || above)
			switch {
			case o.Blocked == "":
				d.say("%s of %s is %s", name, c.Cell.Name, o.text())
			case below:
				d.say("%s of %s is %s at most, whatever is suspect of it", name, c.Cell.Name, Spell(o.Most, o.Unit))
			case above:
				d.say("%s of %s is %s at least, whatever is suspect of it", name, c.Cell.Name, Spell(o.Least, o.Unit))
			default:
				all = false
				for _, x := range o.gaps {
					d.lacks(x)
				}
				d.need(d.longer())
				continue
			}
			if d.t.Kind == KindAbove {
				below, above = above, below
			}
			switch {
			case above:
				return Disagrees
			case !below:
				all = false
				d.need(fmt.Sprintf("more or longer rounds: the interval of %s of %s has %s in it", name, c.Cell.Name, d.t.Bound))
			}
		}
		if whole {
			d.parts = append(d.parts, c.Cell.Name)
		}
	}
	if all {
		return Agrees
	}
	return Undecidable
}

// share compares the share of cells in which a figure is as claimed with Test.Share.
func (d *decider) share() Verdict {
	cells, _ := d.matched()
	// Cells that are not in this length, or that have no run, are unknown.
	total := len(d.o.Match(d.t.Cells))
	if total == 0 {
		return Undecidable
	}
	yes, no := 0, 0
	for _, c := range cells {
		o := d.over(c, d.t.Figures[0])
		least, most := math.Inf(-1), math.Inf(1)
		if d.t.AtLeast != nil {
			least = *d.t.AtLeast
		} else {
			most = *d.t.AtMost
		}
		switch {
		case o.Least >= least && o.Most <= most:
			yes++
			d.parts = append(d.parts, c.Cell.Name)
		case o.Most < least || o.Least > most:
			no++
			d.parts = append(d.parts, c.Cell.Name)
		default:
			for _, x := range o.gaps {
				d.lacks(x)
			}
		}
	}
	d.say("%s is %s in %d of %s, is not in %d, and is not known in %d", d.t.Figures[0], d.t.claimed(), yes, spell.Plural(total, "cell"), no, total-yes-no)
	switch {
	case float64(yes) >= d.t.Share*float64(total):
		return Agrees
	case float64(total-no) < d.t.Share*float64(total):
		return Disagrees
	}
	d.need(d.longer())
	return Undecidable
}

// steady compares the steadiness class of the runs with Test.Class.
func (d *decider) steady() Verdict {
	cells, complete := d.matched()
	v := Agrees
	for _, c := range cells {
		is, isNot, other := 0, 0, 0
		var classes []string
		for _, t := range c.Trials {
			if t.Run == nil {
				continue
			}
			run := PartOf(t.Run, d.t.Workload)
			if run != nil && invalidRun(run) {
				continue // absentOf counts it unless another round was made in its place
			}
			if run == nil || run.Summary == nil || run.Summary.Steady == nil || decidesNothing(run.Summary.Verdict) || run.Summary.Steady.P50.Class == string(stats.NotAssessed) {
				other++
				continue
			}
			class := run.Summary.Steady.P50.Class
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
			if class == d.t.Class {
				is++
			} else {
				isNot++
			}
			d.files = append(d.files, t.File)
		}
		missing := absentOf(c, d.t.Workload)
		d.say("%s: %d runs are %s, %d are not, %d are not assessed", c.Cell.Name, is, d.t.Class, isNot, other+missing.rounds)
		if missing.rounds > 0 {
			d.say("%s", missing.text(c))
		}
		switch {
		// A run that was not assessed may be of either class.
		case another(isNot, is+isNot+other+missing.rounds, d.level):
			return Disagrees
		case is < LeastRounds || isNot+other+missing.rounds > 0:
			v = Undecidable
			d.need(d.longer())
		}
	}
	if !complete {
		return Undecidable
	}
	return v
}

// otherwise is the share of runs of another class up to which a system still counts as steady: the test of a course errs
// now and then.
const otherwise = 0.1

// another reports whether more than that share of a system's runs are of another class, at a level, if
// isNot of n are, of which there are [LeastRounds] at least.
func another(isNot, n int, at level) bool {
	low, _, ok := stats.ProportionInterval(int64(isNot), int64(n), float64(at))
	return ok && n >= LeastRounds && low > otherwise
}

// occurs decides whether figures are 0, or above it. One round in which something occurred shows that
// it does; that it does not is never shown by one round.
func (d *decider) occurs() Verdict {
	cells, all := d.matched()
	for _, c := range cells {
		for _, name := range d.t.Figures {
			r := d.read(c, name)
			figures := r.figures
			yes, no, most := 0, 0, 0.0
			unit, _ := UnitOf(name)
			for _, f := range figures {
				switch low, high := f.bounds(); {
				case f.Missing != "" || f.Unfit != "":
				case low > 0:
					yes, most = yes+1, max(most, f.Value)
				case high <= 0:
					no++
				}
			}
			rounds := len(figures) + absentOf(c, d.t.Workload).rounds
			text := fmt.Sprintf("%s of %s is above 0 in %d of %s", name, c.Cell.Name, yes, spell.Plural(rounds, "round"))
			if yes > 0 {
				text += fmt.Sprintf(", at most %s", Spell(most, unit))
			}
			if unknown := rounds - yes - no; unknown > 0 {
				text += fmt.Sprintf(", and not known in %d", unknown)
			}
			d.say("%s", text)
			least := leastRuns
			if d.t.Kind == KindSome {
				least = LeastRounds
			}
			none := no == rounds && no >= least && !d.early // a later round may have it
			switch {
			case d.t.Kind == KindNone && yes > 0, d.t.Kind == KindSome && none:
				return Disagrees
			case d.t.Kind == KindNone && !none, d.t.Kind == KindSome && yes == 0:
				all = false
				if yes+no < len(figures) {
					for _, x := range r.gaps {
						d.lacks(x)
					}
				}
				d.need(d.longer())
			}
		}
	}
	if all {
		return Agrees
	}
	return Undecidable
}

// bounds returns between which numbers a figure lies.
func (f *Figure) bounds() (low, high float64) {
	if f.Bounded {
		return f.Low, f.High
	}
	return f.Value, f.Value
}

// arithmetic computes Test.Function and compares it with Test.Value.
func (d *decider) arithmetic() Verdict {
	x, err := arithmetic()[d.t.Function](d.t.Of)
	if err != nil {
		d.say("%v", err)
		return Undecidable
	}
	d.say("%s of %v is %s, %s is claimed", d.t.Function, d.t.Of, spell.Number(x), spell.Number(d.t.Value))
	if math.Abs(x-d.t.Value) <= d.t.Margin*math.Abs(d.t.Value) {
		return Agrees
	}
	return Disagrees
}
