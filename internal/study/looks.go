package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// Look is one of the evaluations of a test whose cells are looked at after some numbers of rounds, which the length
// names. The test is decided at the first look that decides it, from the rounds until then alone: rounds that are made
// later, for other tests, change nothing. All looks share the error of one test, see [stats.LookConfidence], so that
// it errs no more often for being looked at several times.
//
// Which rounds a look has is fixed by their numbers, in an order that was drawn before the first: of n rounds those from
// 1 to n. An INVALID one among them may have any figure. Rounds that are made in place of such have numbers after
// all that are planned, and are of the last look alone: verdicts decide whether there are any, and they are made once the
// last look is reached, or never.
type Look struct {
	Rounds     int     `json:"rounds"` // of each cell
	Most       int     `json:"most"`   // rounds at the last look
	Number     int     `json:"number"` // from 1
	Of         int     `json:"of"`
	Confidence float64 `json:"confidence"`
}

// looks returns the evaluations of a test, nil for one whose cells are not looked at before all their rounds.
func (o *Outcome) looks(t *Test) []Look {
	var at []int
	for _, name := range t.cellsOf(o.Study) {
		if c := o.Cell(name); c != nil && len(c.Cell.Looks) > 0 {
			at = c.Cell.Looks // those of its other cells are the same
		}
	}
	var all []Look
	for i, n := range at {
		all = append(all, Look{n, at[len(at)-1], i + 1, len(at), stats.LookConfidence(at, n, Confidence)})
	}
	return all
}

// find decides a test. If its cells have looks, the first that decides it does, of those that are reached. fixed has the
// cells that a test takes each by itself, such as one with a bound, and that are decided, by name: they stay as they were
// at that look, and need no more rounds while the test waits for other cells.
func (o *Outcome) find(t *Test) (f Found, fixed map[string]*Look) {
	looks := o.looks(t)
	if len(looks) == 0 {
		return (&decider{o: o, t: t, level: Confidence}).decide(), nil
	}
	fixed = map[string]*Look{}
	open := false // a look is left
	for i := range looks {
		x := &looks[i]
		reached := o.reached(t, x.Rounds, fixed)
		if i > 0 && !reached {
			open = true
			break
		}
		d := &decider{o: o.until(x, fixed), t: t, level: level(x.Confidence), early: x.Number < x.Of, fixed: fixed}
		f = d.decide()
		if !reached || !o.decidable(t, (*TrialOutcome).Made) {
			return f, nil
		}
		for _, name := range d.parts {
			fixed[name] = cmp.Or(fixed[name], x)
		}
		if f.Look = x; f.Verdict != Undecidable {
			break
		}
	}
	f.Text += "; " + f.Look.text(f.Verdict)
	switch {
	case !open:
	case o.waits(t, fixed):
		f.Needs = cmp.Or(o.More, f.Needs)
	default:
		f.Text += ", and no more are made, since the conclusion is decided without it"
		f.Needs = ""
	}
	return f, fixed
}

// text says at which look a test was decided, or not yet.
func (l *Look) text(v Verdict) string {
	word := "decided"
	if v == Undecidable {
		word = "not decided"
	}
	return fmt.Sprintf("%s after %d of at most %d rounds, at look %d of %d, with %s confidence", word, l.Rounds, l.Most, l.Number, l.Of, l.percent())
}

// percent writes the confidence with two decimals, rounded down.
func (l *Look) percent() string { return spell.Percent(math.Floor(l.Confidence*1e4) / 1e4) }

// until returns the outcome as it was at a look, and for cells that are fixed at theirs. The last look has the rounds that
// were made in place of others, too.
func (o *Outcome) until(x *Look, fixed map[string]*Look) *Outcome {
	cut := *o
	cut.Cells = slices.Clone(o.Cells)
	for i := range cut.Cells {
		c := &cut.Cells[i]
		at := cmp.Or(fixed[c.Cell.Name], x)
		if at.Number < at.Of {
			c.Cell.Rounds = min(c.Cell.Rounds, at.Rounds)
			c.Trials = slices.DeleteFunc(slices.Clone(c.Trials), func(t TrialOutcome) bool { return t.Round > at.Rounds })
		}
	}
	return &cut
}

// pending reports whether a trial is still to be made.
func (t *TrialOutcome) pending() bool { return !t.Made() && t.Why == "" }

// reached reports whether all trials of the test's cells from round 1 to this one were tried, but for cells that are fixed.
func (o *Outcome) reached(t *Test, round int, fixed map[string]*Look) bool {
	return !slices.ContainsFunc(t.cellsOf(o.Study), func(name string) bool {
		c := o.Cell(name)
		return c != nil && fixed[name] == nil && (c.Unneeded > 0 && c.Cell.Rounds-c.Unneeded < round ||
			slices.ContainsFunc(c.Trials, func(x TrialOutcome) bool { return x.Round <= round && x.pending() }))
	})
}

// waits reports whether a trial of the test's cells is pending, but for cells that are fixed.
func (o *Outcome) waits(t *Test, fixed map[string]*Look) bool {
	return slices.ContainsFunc(t.cellsOf(o.Study), func(name string) bool {
		c := o.Cell(name)
		return c != nil && fixed[name] == nil && slices.ContainsFunc(c.Trials, func(x TrialOutcome) bool { return x.pending() })
	})
}

// decidable reports whether runs can decide the test on this machine: whether each of its cells has a trial that is so, or
// where it takes each by itself, one of them.
func (o *Outcome) decidable(t *Test, so func(*TrialOutcome) bool) bool {
	switch {
	case t.Kind == KindUndecidable || t.Kind == KindArithmetic || o.processors() < t.Processors:
		return false
	}
	has := func(name string) bool {
		c := o.Cell(name)
		return c != nil && slices.ContainsFunc(c.Trials, func(x TrialOutcome) bool { return so(&x) })
	}
	cells := t.cellsOf(o.Study)
	if t.A == "" && t.Kind != KindMonotone {
		return slices.ContainsFunc(cells, has)
	}
	return !slices.ContainsFunc(cells, func(name string) bool { return !has(name) })
}

// settled returns after how many rounds a test that found f needs no more of each of its cells, by name; without those of
// which it may need more. A test that nothing which is made can decide needs none, and none more needs one whose
// conclusion is decided without it.
func (o *Outcome) settled(t *Test, f Found, fixed map[string]*Look, concluded bool) map[string]int {
	open := len(o.looks(t)) > 0 && !concluded && (f.Look == nil || f.Verdict == Undecidable && f.Look.Number < f.Look.Of) &&
		o.decidable(t, func(x *TrialOutcome) bool { return x.Made() || x.pending() })
	all := map[string]int{}
	for _, name := range t.cellsOf(o.Study) {
		switch at := cmp.Or(fixed[name], f.Look); {
		case open && fixed[name] == nil:
		case at == nil:
			all[name] = 0
		default:
			all[name] = at.Rounds
		}
	}
	return all
}

// DecidedEarly reports whether a test is decided at a look before the last, at which rounds that are made in place of
// others do not count.
func (o *Outcome) DecidedEarly(t *Test) bool {
	f, _ := o.find(t)
	return f.Look != nil && f.Verdict != Undecidable && f.Look.Number < f.Look.Of
}

// Enough returns after how many rounds each cell, by name, needs no more, since each test that uses it is decided, or its
// conclusion is without it, or it can be by nothing that is made. Cells that need all of their rounds, or may still, are not in it. It is a function of the
// records alone, so that a study that is resumed stops where one that was not does.
func (o *Outcome) Enough() map[string]int {
	enough := map[string]int{}
	for i := range o.Cells {
		if c := &o.Cells[i].Cell; len(c.Looks) > 0 {
			enough[c.Name] = c.Looks[0]
		}
	}
	for _, c := range o.Study.Conclusions {
		found, fixed := make([]Found, len(c.Tests)), make([]map[string]*Look, len(c.Tests))
		for i := range c.Tests {
			found[i], fixed[i] = o.find(&c.Tests[i])
		}
		concluded := together(found, c.Share) != Undecidable
		for i := range c.Tests {
			settled := o.settled(&c.Tests[i], found[i], fixed[i], concluded)
			for _, name := range c.Tests[i].cellsOf(o.Study) {
				rounds, is := settled[name]
				if !is {
					delete(enough, name)
				} else if n, has := enough[name]; has {
					enough[name] = max(n, rounds)
				}
			}
		}
	}
	for i := range o.Cells {
		if c := &o.Cells[i].Cell; enough[c.Name] >= c.Rounds {
			delete(enough, c.Name)
		}
	}
	return enough
}

// used reports whether a test of the study takes the cell.
func (s *Study) used(name string) bool {
	return slices.ContainsFunc(s.Conclusions, func(c Conclusion) bool {
		return slices.ContainsFunc(c.Tests, func(t Test) bool {
			return name == t.A || name == t.B || cellMatches(name, t.Cells)
		})
	})
}

// looked checks the looks of a length, or of some of its cells: at the first something can be shown, and none is after
// all rounds, which are the last.
func (c *checker) looked(looks []int, rounds int, at ...any) {
	all := append(slices.Clone(looks), rounds)
	for i, n := range looks {
		if n >= all[i+1] {
			c.fail(fmt.Sprintf("a look after %d rounds is not before that after %d", n, all[i+1]), "write them ascending, and leave out the last, which is after all rounds: {rounds: 60, looks: [12, 20, 40]}", at...)
			return
		}
	}
	for _, n := range looks[:min(1, len(looks))] {
		conf := stats.LookConfidence(all, n, Confidence)
		if least := level(conf).rounds(); n < least {
			c.fail(fmt.Sprintf("a look after %s shows nothing", spell.Plural(n, "round")), fmt.Sprintf("as one of %d looks it takes %d rounds", len(all), least), at...)
		}
	}
}

// together checks that the cells of a test have the same looks in each length.
func (c *checker) together(t *Test, at ...any) {
	for _, length := range []string{Quick, Default, Full} {
		cells, _ := c.s.Cells(length) // exists
		var first *Cell
		for _, name := range t.cellsOf(c.s) {
			i := slices.IndexFunc(cells, func(x Cell) bool { return x.Name == name })
			switch {
			case i < 0:
			case first == nil:
				first = &cells[i]
			case !slices.Equal(first.Looks, cells[i].Looks):
				c.fail(fmt.Sprintf("%s is looked at %s in the length %s, and %s %s", first.Name, first.looked(), length, name, cells[i].looked()),
					"give the cells of a test the same rounds and looks: what decides it are the same rounds of all of them", at...)
				return
			}
		}
	}
}

// looked says after how many rounds the cell is looked at.
func (c *Cell) looked() string {
	if len(c.Looks) == 0 {
		return "after all rounds"
	}
	var all []string
	for _, n := range c.Looks {
		all = append(all, spell.Count(n))
	}
	return "after " + strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1] + " rounds"
}
