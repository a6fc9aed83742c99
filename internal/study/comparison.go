package study

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// two returns the cells A and B as sides, so that the quotient B ÷ A is at its least; false if one
// has no run.
func (d *decider) two() ([]side, bool) {
	a, b := d.cell(d.t.A), d.cell(d.t.B)
	return []side{{a, atMost}, {b, atLeast}}, a != nil && b != nil
}

// split splits the rows of a table, whose sides are pairs, into the first of each pair and the second.
func (t *table) split() (a, b [][]float64) {
	n := len(t.figures)
	for _, row := range t.values {
		var one, other []float64
		for i := 0; i+2*n <= len(row); i += 2 * n {
			one, other = append(one, row[i:i+n]...), append(other, row[i+n:i+2*n]...)
		}
		a, b = append(a, one), append(b, other)
	}
	return a, b
}

// shift compares the second of each pair of sides with the first; the points are by pair, then by
// figure. There are none if the table is nil.
func (d *decider) shift(t *table) []stats.ShiftPoint {
	if t == nil {
		return nil
	}
	a, b := t.split()
	s, err := stats.ShiftFunction(a, b, float64(d.level))
	if err != nil {
		d.say("%v", err)
		return nil
	}
	return s.Points
}

// point returns the point of a figure in a table of one pair; ok is false if it has none.
func (t *table) point(all []stats.ShiftPoint, figure string) (p stats.ShiftPoint, ok bool) {
	if t == nil || all == nil {
		return p, false
	}
	k := slices.Index(t.figures, figure)
	if k < 0 {
		return p, false
	}
	return all[k], true
}

// shown reports whether a shift is significant, which its interval then says of which direction.
func (l level) shown(p stats.ShiftPoint, ok bool) bool { return ok && p.Bounded && p.P <= 1-float64(l) }

// pairs decides by the exact paired test whether A is faster than B, or equivalent to it.
func (d *decider) pairs() Verdict {
	sides, ok := d.two()
	if !ok {
		return Undecidable
	}
	d.together(sides[0].cell)
	low, high := d.ranged(sides)
	least, most := d.shift(low), d.shift(high)
	v := Agrees
	undecided := map[int][]string{} // by number of rounds
	for _, name := range d.t.Figures {
		l, isLow := low.point(least, name) // B ÷ A, at its least and at its most
		h, isHigh := high.point(most, name)
		larger, smaller := d.level.shown(l, isLow) && l.Lo > 1, d.level.shown(h, isHigh) && h.Hi < 1
		lo, hi := l.Lo, h.Hi
		if !isLow || !isHigh {
			q := d.whole(sides[1].cell, sides[0].cell, name, 1-(1-float64(d.level))/float64(len(d.t.Figures)))
			if q.bounded() {
				d.say("%s: the median of %s ÷ %s is %s", name, d.t.B, d.t.A, q.text())
			}
			if !isLow {
				lo, larger = q.low, q.low > 1
			}
			if !isHigh {
				hi, smaller = q.high, q.high < 1
			}
		}
		yes, no, margin := larger, smaller, 1+d.t.Margin
		same := d.t.Margin > 0 && (!isLow || l.Bounded) && (!isHigh || h.Bounded) && lo >= 1/margin && hi <= margin
		switch {
		case d.t.Kind == KindEquivalent:
			yes, no = same, larger && lo > margin || smaller && hi < 1/margin
		case more(name):
			yes, no = smaller, larger || same && !smaller
		default:
			no = smaller || same && !larger
		}
		if isLow || isHigh {
			d.say("%s: %s ÷ %s is %s", name, d.t.B, d.t.A, between(low, high, l, h, isLow, isHigh))
		}
		switch {
		case no:
			return Disagrees
		case !yes:
			v = Undecidable
			if isLow || isHigh {
				n := max(low.length(), high.length())
				undecided[n] = append(undecided[n], name)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(undecided)) {
		d.need(fmt.Sprintf("more or longer rounds: %s not decided by %d", are(undecided[n]), n))
	}
	return v
}

// length returns the number of rounds, 0 without a table.
func (t *table) length() int {
	if t == nil {
		return 0
	}
	return t.rounds
}

// are joins words with the verb that they take.
func are(words []string) string {
	if len(words) == 1 {
		return words[0] + " is"
	}
	return spoken(words) + " are"
}

// between writes a shift: one interval, or where unfit figures have ranges the ends that are known.
func between(low, high *table, l, h stats.ShiftPoint, isLow, isHigh bool) string {
	switch {
	case !isHigh:
		return fmt.Sprintf("at least %s in %s", interval(l.Ratio, l.Lo, l.Hi), low.in())
	case !isLow:
		return fmt.Sprintf("at most %s in %s", interval(h.Ratio, h.Lo, h.Hi), high.in())
	case l == h:
		return fmt.Sprintf("%s in %s", interval(l.Ratio, l.Lo, l.Hi), low.in())
	}
	return fmt.Sprintf("between %s and %s in %s", interval(l.Ratio, l.Lo, l.Hi), interval(h.Ratio, h.Lo, h.Hi), low.in())
}

// more reports whether a larger value of a figure is better.
func more(name string) bool {
	u, _ := UnitOf(name)
	return u == PerSecond || u == BytesRate || name == "availability"
}

// interval writes a ratio with its interval; both ends 0: no interval.
func interval(x, low, high float64) string {
	if low == 0 && high == 0 {
		return spell.Number(x) + " (no interval)"
	}
	return fmt.Sprintf("%s (%s to %s)", spell.Number(x), spell.Number(low), spell.Number(high))
}

// ratio compares the median of the rounds' quotients with a bound.
func (d *decider) ratio() Verdict {
	sides, ok := d.two()
	if !ok {
		return Undecidable
	}
	d.together(sides[0].cell)
	high, low := d.ranged(sides) // A ÷ B
	l, isLow := d.quotients(low)
	h, isHigh := d.quotients(high)
	lo, hi, n := l.Lo, h.Hi, max(low.length(), high.length())
	if !isLow || !isHigh {
		q := d.whole(sides[0].cell, sides[1].cell, d.t.Figures[0], float64(d.level))
		if !isLow {
			lo = q.low
		}
		if !isHigh {
			hi = q.high
		}
		n = max(n, q.rounds)
		if q.bounded() {
			d.say("%s: the median of %s ÷ %s is %s, %s is claimed", d.t.Figures[0], d.t.A, d.t.B, q.text(), d.t.claimed())
		}
		if !isLow && !isHigh && !q.bounded() {
			return Undecidable
		}
	}
	text := ""
	switch {
	case !isHigh && !isLow:
		return d.side(lo, hi, spell.Plural(n, "round"))
	case !isHigh:
		text = "at least " + interval(l.Median, l.Lo, l.Hi)
	case !isLow:
		text = "at most " + interval(h.Median, h.Lo, h.Hi)
	case l == h:
		text = interval(l.Median, l.Lo, l.Hi)
	default:
		text = "between " + interval(l.Median, l.Lo, l.Hi) + " and " + interval(h.Median, h.Lo, h.Hi)
	}
	t := low
	if !isLow {
		t = high
	}
	d.say("%s: %s ÷ %s is %s in %s, %s is claimed", t.figures[0], d.t.A, d.t.B, text, t.in(), d.t.claimed())
	return d.side(lo, hi, spell.Plural(n, "round"))
}

// quotients returns the median of A ÷ B over the rounds of a table; false if it has no interval.
func (d *decider) quotients(t *table) (r stats.Ratio, ok bool) {
	if t == nil {
		return r, false
	}
	var a, b []float64
	for _, row := range t.values {
		a, b = append(a, row[0]), append(b, row[1])
	}
	r, err := stats.MedianRatio(a, b, float64(d.level))
	if err != nil || !r.Bounded {
		d.lacks(gap{why: fmt.Sprintf("no interval of %s", spell.Plural(t.rounds, "round"))})
		return r, false
	}
	return r, true
}

// side returns the verdict for an interval and the bound AtLeast or AtMost.
func (d *decider) side(low, high float64, of string) Verdict {
	least, most := math.Inf(-1), math.Inf(1)
	if d.t.AtLeast != nil {
		least = *d.t.AtLeast
	} else {
		most = *d.t.AtMost
	}
	switch {
	case low >= least && high <= most:
		return Agrees
	case high < least || low > most:
		return Disagrees
	}
	d.need("more or longer rounds: the interval of " + of + " has what is claimed in it")
	return Undecidable
}

// monotone decides whether a figure rises, or falls, from each cell to the next.
func (d *decider) monotone() Verdict {
	var sides []side // of each step the one cell and the other, so that the quotient is at its least
	names := slices.Clone(d.t.Cells)
	if d.t.Direction == "falling" {
		slices.Reverse(names)
	}
	for i, name := range names {
		c := d.cell(name)
		switch {
		case c == nil:
			return Undecidable
		case i > 0:
			sides = append(sides, side{d.o.Cell(names[i-1]), atMost}, side{c, atLeast})
		}
	}
	low, high := d.ranged(sides)
	least, most := d.shift(low), d.shift(high)
	v := Agrees
	var steps []string
	for k := range len(names) - 1 {
		a, b := names[k], names[k+1]
		var l, h stats.ShiftPoint
		if least != nil {
			l = least[k]
		}
		if most != nil {
			h = most[k]
		}
		if least != nil || most != nil {
			d.say("%s: %s ÷ %s is %s", d.t.Figures[0], b, a, between(low, high, l, h, least != nil, most != nil))
		}
		switch {
		case d.level.shown(h, most != nil) && h.Hi < 1:
			return Disagrees
		case !(d.level.shown(l, least != nil) && l.Lo > 1):
			v = Undecidable
			steps = append(steps, a+" to "+b)
		}
	}
	if len(steps) > 0 && (least != nil || most != nil) {
		d.need("more or longer rounds: " + are(steps) + " not decided")
	}
	return v
}
