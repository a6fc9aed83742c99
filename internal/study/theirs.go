package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/spell"
)

// Theirs is what a test makes of the author's own figures.
type Theirs struct {
	// Verdict is Agrees or Disagrees; Undecidable if the author printed no number that the test
	// compares.
	Verdict Verdict
	Text    string // the figures and what follows from them; empty if Undecidable
}

// Theirs applies a test to the figures as the author printed them: to those of the cells that
// it names, or to [Test.Theirs] where the author printed what it compares in another form. A test
// of several figures is applied to those that were printed.
func (s *Study) Theirs(t *Test) Theirs {
	a := &author{s: s, t: t}
	switch {
	case t.Kind == KindArithmetic:
		return a.arithmetic()
	case t.Theirs != "":
		a.stated()
	case t.Kind == KindFaster, t.Kind == KindEquivalent, t.Kind == KindRatio:
		for _, name := range t.Figures {
			a.pair(name)
		}
	case t.Kind == KindMonotone:
		a.course()
	case t.Kind == KindShare:
		a.share()
	case t.Kind == KindBelow, t.Kind == KindAbove, t.Kind == KindNone, t.Kind == KindSome:
		for _, cell := range s.cellNames(t.Cells) {
			for _, name := range t.Figures {
				if v, ok := s.printed(cell, name); ok {
					a.one(v, name, cell)
				}
			}
		}
	}
	return a.result()
}

// author applies one test to the author's figures.
type author struct {
	s     *Study
	t     *Test
	texts []string
	fails bool
}

func (a *author) found(holds bool, format string, args ...any) {
	a.texts = append(a.texts, fmt.Sprintf(format, args...))
	a.fails = a.fails || !holds
}

func (a *author) result() Theirs {
	switch text := strings.Join(a.texts, "; "); {
	case text == "":
		return Theirs{Verdict: Undecidable}
	case a.fails:
		return Theirs{Disagrees, text}
	default:
		return Theirs{Agrees, text}
	}
}

// claims reports whether a value is as the bounds AtLeast or AtMost claim.
func (t *Test) claims(x float64) bool {
	return (t.AtLeast == nil || x >= *t.AtLeast) && (t.AtMost == nil || x <= *t.AtMost)
}

// quotient applies the test to A's figure ÷ B's.
func (a *author) quotient(x float64, name, text string) {
	holds := a.t.claims(x)
	switch a.t.Kind {
	case KindFaster:
		holds = x < 1 != more(name) && x != 1
	case KindEquivalent:
		holds = x <= 1+a.t.Margin && x >= 1/(1+a.t.Margin)
	}
	a.found(holds, "%s", text)
}

// pair applies the test to a figure of the cells A and B.
func (a *author) pair(name string) {
	x, one := a.s.printed(a.t.A, name)
	y, other := a.s.printed(a.t.B, name)
	if !one || !other || !(y > 0) {
		return
	}
	u, _ := UnitOf(name)
	a.quotient(x/y, name, fmt.Sprintf("%s %s against %s", name, Spell(x, u), Spell(y, u)))
}

// stated applies the test to what Test.Theirs states.
func (a *author) stated() {
	name := a.t.Figures[0]
	u, _ := UnitOf(name)
	switch a.t.Kind {
	case KindBelow, KindAbove:
		if v, err := bound(a.t.Theirs, u); err == nil { // checked
			a.one(v, name, "")
		}
	default: // a quotient or a share
		x, _ := bound(a.t.Theirs, Part) // checked
		text := a.t.Theirs
		if a.t.Kind == KindShare {
			a.found(x >= a.t.Share, "%s of them", spell.Percent(x))
			return
		}
		a.quotient(x, name, text+" times")
	}
}

// one applies a test of single figures to a value.
func (a *author) one(v float64, name, cell string) {
	u, _ := UnitOf(name)
	text := joined(name, Spell(v, u), cell)
	switch a.t.Kind {
	case KindNone:
		a.found(v == 0, "%s", text)
		return
	case KindSome:
		a.found(v > 0, "%s", text)
		return
	}
	limit, err := bound(a.t.Bound, u)
	if err != nil {
		return // the checker says so
	}
	a.found(v < limit == (a.t.Kind == KindBelow) && v != limit, "%s", text)
}

func joined(name, value, cell string) string {
	if cell == "" {
		return name + " " + value
	}
	return name + " " + value + " of " + cell
}

// course applies the test to the figures of all its cells, in their order.
func (a *author) course() {
	name := a.t.Figures[0]
	u, _ := UnitOf(name)
	var all []string
	holds, last := true, math.NaN()
	for _, cell := range a.t.Cells {
		v, ok := a.s.printed(cell, name)
		if !ok {
			return
		}
		if len(all) > 0 {
			holds = holds && v != last && (v > last) == (a.t.Direction == "rising")
		}
		all, last = append(all, Spell(v, u)), v
	}
	a.found(holds, "%s %s", name, strings.Join(all, ", "))
}

// share applies the test if the figure of every cell was printed.
func (a *author) share() {
	name := a.t.Figures[0]
	cells := a.s.cellNames(a.t.Cells)
	yes := 0
	for _, cell := range cells {
		v, ok := a.s.printed(cell, name)
		if !ok {
			return
		}
		if a.t.claims(v) {
			yes++
		}
	}
	a.found(float64(yes) >= a.t.Share*float64(len(cells)), "%d of %s", yes, spell.Plural(len(cells), "cell"))
}

// arithmetic compares the number that the author printed with what the function gives.
func (a *author) arithmetic() Theirs {
	x, err := arithmetic()[a.t.Function](a.t.Of)
	if err != nil {
		return Theirs{Verdict: Undecidable}
	}
	a.found(math.Abs(x-a.t.Value) <= a.t.Margin*math.Abs(a.t.Value), "%s, where %s of %v is %s", spell.Number(a.t.Value), a.t.Function, a.t.Of, spell.Number(x))
	return a.result()
}

// cellNames returns the names of the cells of any length that match one of the patterns.
func (s *Study) cellNames(patterns []string) []string {
	return slices.DeleteFunc(slices.Clone(s.cells), func(name string) bool { return !cellMatches(name, patterns) })
}

// printed returns the figure of a cell that the author printed, in the figure's unit of [UnitOf];
// a quotient of two that were printed; ok is false if there is none.
func (s *Study) printed(cell, name string) (v float64, ok bool) {
	if over, under, both := strings.Cut(name, "/"); both {
		x, one := s.printed(cell, over)
		y, other := s.printed(cell, under)
		return x / y, one && other && y > 0
	}
	for _, f := range s.Figures {
		p := f.Value
		if i := slices.Index(f.Columns, name); i >= 0 && i < len(f.Rows[cell]) {
			p = f.Rows[cell][i]
		} else if f.Cell != cell || f.Figure != name {
			continue
		}
		scale, known := PrintedScale(f.Unit, name)
		if x := p.Number(); known && !math.IsNaN(x) {
			return x * scale, true
		}
	}
	return 0, false
}

// PrintedScale returns the factor from a unit in which a figure was printed to the figure's own
// unit, see [UnitOf]. Latencies are in ms unless another unit is given. ok is false for a unit
// that the figure cannot have.
func PrintedScale(unit, name string) (factor float64, ok bool) {
	u, _ := UnitOf(name)
	if unit == "" && u == Nanoseconds {
		unit = "ms"
	}
	scale := map[Unit]map[string]float64{
		Nanoseconds: {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9},
		Seconds:     {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1},
		PerSecond:   {"": 1, "/s": 1},
		BytesRate:   {"B/s": 1, "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "MiB/s": 1 << 20, "GB/s": 1e9},
		Bytes:       {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "MiB": 1 << 20, "GB": 1e9, "GiB": 1 << 30},
		Part:        {"": 1, "%": 0.01, "×": 1},
		Count:       {"": 1},
	}
	factor, ok = scale[u][unit]
	return factor, ok
}

// theirs checks a test against the author's own figures: where they fail it, the test does not
// test the author's claim, unless the author contradicts it, which [Test.Slip] then says.
func (c *checker) theirs(t *Test, at ...any) {
	if t.Kind == KindUndecidable || t.Kind == KindSteady {
		return
	}
	if t.Theirs != "" && len(t.Figures) > 0 {
		u := Part
		if t.Kind == KindBelow || t.Kind == KindAbove {
			u, _ = UnitOf(t.Figures[0])
		}
		if _, err := bound(t.Theirs, u); err != nil {
			c.fail(fmt.Sprintf("%q is no number of the author's for this test", t.Theirs), "write A ÷ B, such as 0.38, a share, or for below and above the figure, such as 0.66ms", append(at, "theirs")...)
			return
		}
	}
	found := c.s.Theirs(t)
	switch {
	case c.s.Original == nil: // the numbers are its own
	case found.Verdict != Undecidable && t.Unprinted != "":
		c.fail("unprinted, and the author's figures are there: "+found.Text, "leave unprinted out", append(at, "unprinted")...)
	case found.Verdict == Disagrees && t.Slip == "":
		c.fail("the author's own figures fail this test: "+found.Text, "test what the author claims; where the author's figures contradict the claim, say so as slip, which the page shows", at...)
	case found.Verdict != Disagrees && t.Slip != "":
		c.fail("a slip that the author's figures do not show", "leave slip out", append(at, "slip")...)
	}
}
