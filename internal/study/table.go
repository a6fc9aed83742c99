package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"sixnines/internal/spell"
)

// end is the end of a range.
type end int

const (
	atMost end = iota
	atLeast
)

// opposite returns the other end.
func (e end) opposite() end { return atLeast - e }

// side is a cell in a comparison, with the end of the ranges in which its unfit figures lie.
type side struct {
	cell *CellOutcome
	at   end
}

// table holds the figures of several sides in the rounds in which they are usable.
type table struct {
	figures []string    // the usable ones
	values  [][]float64 // by round, then by side and figure: side × len(figures) + figure
	rounds  int
	own     bool // rows pair different rounds of the cells, by order
}

// in says in how many rounds the figures are usable.
func (t *table) in() string {
	if t.own {
		return fmt.Sprintf("%d rounds, of each cell those that can be used, in their order", t.rounds)
	}
	return fmt.Sprintf("%d rounds", t.rounds)
}

// column is a figure of a cell by round, for the rounds in which it is usable.
type column map[int]float64

// ranged returns the tables of a comparison with its quotients at the one end of what they can be and
// at the other: first with each side as given, then with the opposite ends. What holds with the one
// that speaks against it holds whatever unfit figures are in their ranges. Without such ranges
// rounds would be left out by how the system did, since a lag is held against the latency that it
// is in: those of the faster one.
func (d *decider) ranged(sides []side) (first, second *table) {
	first = d.table(sides)
	other := slices.Clone(sides)
	for i := range other {
		other[i].at = other[i].at.opposite()
	}
	return first, d.table(other)
}

// table reads figures of cells, round by round. Figures that are usable in too few rounds to show anything at the
// decider's level, six, are left out and noted. The result is nil if no figure is left.
func (d *decider) table(sides []side) *table {
	var t table
	least := d.level.rounds()
	columns := make([][]column, len(sides)) // by side, then figure
	enough := least
	if slices.ContainsFunc(sides[0].cell.Trials, func(t TrialOutcome) bool { return t.Beside != nil }) {
		enough = 0
	}
	for _, name := range d.t.Figures {
		tried := make([][]column, len(sides))
		before := len(d.gaps)
		blocked := false
		for i, s := range sides {
			usable, ok := d.column(s, name)
			tried[i] = append(slices.Clone(columns[i]), usable)
			blocked = blocked || !ok
		}
		switch {
		case blocked:
			d.need(cmp.Or(d.more(sides), d.longer()))
		case len(matched(tried, enough)) >= least:
			t.figures, columns = append(t.figures, name), tried
		case len(t.figures) > 0:
			d.lacks(gap{why: name + " can be used in other rounds than the figures before it"})
		case len(d.gaps) == before:
			d.lacks(gap{why: fmt.Sprintf("%s: fewer than %d rounds of each cell that are not INVALID", name, least)})
			d.need(cmp.Or(d.more(sides), d.longer()))
		}
	}
	if len(t.figures) == 0 {
		return nil
	}
	for _, rounds := range matched(columns, enough) {
		var row []float64
		for i, round := range rounds {
			for _, c := range columns[i] {
				row = append(row, c[round])
			}
			t.own = t.own || round != rounds[0]
		}
		t.values = append(t.values, row)
	}
	t.rounds = len(t.values)
	return &t
}

// column reads a figure of a side. It is not ok, and notes why, if too few rounds are usable, or if one
// is not for something that depends on how the system did: without it the rounds would be chosen.
func (d *decider) column(s side, name string) (usable column, ok bool) {
	r := d.read(s.cell, name)
	usable, ok = column{}, true
	at := func(round int) gap { return gap{figure: name, cell: s.cell.Cell.Name, rounds: []int{round}} }
	chosen := func(x gap, why string) {
		ok = false
		x.why = why
		d.lacks(x)
		d.chosen = true
	}
	var zero []int // rounds whose figure is missing or 0
	for _, round := range slices.Sorted(maps.Keys(r.figures)) {
		f := r.figures[round]
		v, known := f.stands(s.at)
		switch {
		case f.Missing == "" && f.Unfit != "" && !f.Unsteady && known && (!f.Selects || f.AtLeast):
			usable[round] = v
			d.stand(s)
		case f.Selects, f.Missing == "" && f.Unfit != "" && f.BySize && !f.Unsteady:
			chosen(at(round), f.why())
		case f.Missing != "":
			zero = append(zero, round)
		case f.Unfit != "" && !f.Unsteady:
		case f.Value > 0:
			usable[round] = f.Value
		default:
			zero = append(zero, round)
		}
	}
	for _, round := range zero {
		why := "it is 0"
		if f := r.figures[round]; f.Missing != "" {
			why = f.Missing
		}
		if len(usable) > 0 {
			chosen(at(round), why)
		}
	}
	for _, x := range s.cell.Trials {
		if !x.Made() && x.Why != "" {
			chosen(gap{cell: s.cell.Cell.Name, rounds: []int{x.Round}}, x.Outcome()+": "+x.Why)
		}
	}
	missing := absentOf(s.cell, d.t.Workload)
	if missing.rounds > 0 && ok {
		ok = false
		d.lacks(gap{why: missing.text(s.cell) + ": with them the answer may be another"})
	}
	if len(usable) < d.level.rounds() {
		ok = false
		for _, x := range r.gaps {
			d.lacks(x)
		}
		if d.few = true; len(r.gaps) == 0 && missing.rounds == 0 {
			d.lacks(gap{figure: name, cell: s.cell.Cell.Name, why: "made in " + spell.Plural(len(s.cell.Trials), "round")})
		}
	}
	return usable, ok
}

// matched pairs rounds of the cells: each row has one round for each cell. It uses the same
// round of all cells, or, if fewer than least rounds, six, are usable in all, the usable rounds of
// each cell in their order. Every round makes all cells, so such rounds are not far apart in
// time. Verdicts decide what is usable, so no round is selected by its figures. Rounds
// that were made at the same time are paired with nothing else: of these least is 0.
func matched(columns [][]column, least int) [][]int {
	var same [][]int
	shortest := math.MaxInt
	each := make([][]int, len(columns)) // rounds that are usable in all figures of a cell
	for i, of := range columns {
		for round := range of[0] {
			if !slices.ContainsFunc(of, func(c column) bool { _, ok := c[round]; return !ok }) {
				each[i] = append(each[i], round)
			}
		}
		slices.Sort(each[i])
		shortest = min(shortest, len(each[i]))
	}
	for _, round := range each[0] {
		if !slices.ContainsFunc(each, func(rounds []int) bool { return !slices.Contains(rounds, round) }) {
			same = append(same, slices.Repeat([]int{round}, len(columns)))
		}
	}
	if len(same) >= least {
		return same
	}
	var ordered [][]int
	for k := range shortest {
		var row []int
		for _, rounds := range each {
			row = append(row, rounds[k])
		}
		ordered = append(ordered, row)
	}
	return ordered
}
