package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sixnines/internal/spell"
)

// noCell is the index of no cell of a table.
const noCell = -1

// bySide decides a comparison of two cells each way by itself. What speaks for the claim is decided
// on a table in which suspect rounds of the cell agree, which can only be too long, stand with their
// upper bounds, and what speaks against it likewise with those of the cell disagree: that such a
// system is the faster one follows all the more. Without bounds these rounds would be left out, and
// since a lag is judged relative to the latency beside it, mostly those of the faster system.
func (d *decider) bySide(cells []*CellOutcome, agree, disagree int, decide func(*decider, *table) Verdict) Verdict {
	bounds := slices.ContainsFunc(cells, func(c *CellOutcome) bool {
		return slices.ContainsFunc(d.t.Figures, func(name string) bool {
			figures, _ := d.read(c, name)
			for _, f := range figures {
				if f.lengthened() {
					return true
				}
			}
			return false
		})
	})
	if !bounds {
		return decide(d, d.table(cells, d.t.Figures, noCell))
	}
	for _, side := range []struct {
		bounded int
		verdict Verdict
	}{{agree, Agrees}, {disagree, Disagrees}} {
		try := &decider{o: d.o, t: d.t, cells: d.cells, files: d.files}
		if decide(try, try.table(cells, d.t.Figures, side.bounded)) == side.verdict {
			d.texts, d.files = try.texts, try.files
			d.say("suspect rounds of %s stand with their upper bounds", cells[side.bounded].Cell.Name)
			return side.verdict
		}
	}
	if decide(d, d.table(cells, d.t.Figures, noCell)) != Undecidable {
		d.say("suspect rounds left out: with their bounds it is not decided")
	}
	d.need(cmp.Or(d.more(cells), d.longer(), "more or longer rounds"))
	return Undecidable
}

// table holds the figures of several cells in the rounds in which they are usable.
type table struct {
	figures []string    // the usable ones
	values  [][]float64 // by round, then by cell and figure: cell × len(figures) + figure
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

// table reads figures of cells, round by round. Figures that are usable in fewer than six
// rounds are left out and noted. The result is nil if no figure is left.
func (d *decider) table(cells []*CellOutcome, figures []string, bounded int) *table {
	var t table
	columns := make([][]column, len(cells)) // by cell, then figure
	least := 0                              // fewest rounds with a result that is not INVALID, of any cell
	var few []string                        // figures for which too few rounds can be matched
	for _, name := range figures {
		tried := make([][]column, len(cells))
		var blocked, selects string
		for i, c := range cells {
			read, why := d.read(c, name)
			usable := column{}
			chosen := func(round int, why string) {
				selects = fmt.Sprintf("%s of %s, round %d: %s, and without it the rounds would be chosen by how the system did", name, c.Cell.Name, round, why)
			}
			absent, absentWhy := 0, ""                             // a round without a usable figure; 0: none
			for _, round := range slices.Sorted(maps.Keys(read)) { // in order: a text names the last one
				f := read[round]
				switch {
				case i == bounded && f.lengthened():
					usable[round] = f.Most
				case f.Selects:
					chosen(round, cmp.Or(f.Missing, f.Unfit))
				case f.Missing != "":
					absent, absentWhy = round, f.Missing
				case f.Unfit != "" && !f.Unsteady:
				case f.Value > 0:
					usable[round] = f.Value
				default:
					absent, absentWhy = round, "it is 0"
				}
			}
			if absent > 0 && len(usable) > 0 { // if all rounds are absent, blocked says so
				chosen(absent, absentWhy)
			}
			for _, x := range c.Trials {
				if !x.Made() && x.Why != "" {
					chosen(x.Round, x.Outcome()+": "+x.Why)
				}
			}
			tried[i] = append(slices.Clone(columns[i]), usable)
			if len(usable) < LeastRounds && blocked == "" && why != "" {
				blocked = fmt.Sprintf("%s; %d of %s can be used, and it takes %d", why, len(usable), spell.Plural(len(c.Trials), "round"), LeastRounds)
			}
			if missing := absentOf(c, d.t.Workload); len(usable) >= LeastRounds && missing.rounds > 0 {
				selects = cmp.Or(selects, missing.text(c)+": with them the answer may be another")
			}
			if n := len(read); least == 0 || n < least {
				least = n
			}
		}
		switch blocked = cmp.Or(selects, blocked); {
		case blocked != "":
			d.say("%s", blocked)
			d.need(cmp.Or(d.more(cells), d.longer()))
		case len(matched(tried)) >= LeastRounds:
			t.figures, columns = append(t.figures, name), tried
		case len(t.figures) > 0:
			d.say("%s can be used in other rounds than the figures before it", name)
		default:
			few = append(few, name)
		}
	}
	switch {
	case least < LeastRounds && len(d.texts) == 0:
		d.say("%s of %d that it takes", spell.Plural(least, "round"), LeastRounds)
		d.need(cmp.Or(d.more(cells), d.longer()))
	case len(few) > 0:
		d.say("%s: fewer than %d rounds of each cell that are not INVALID", strings.Join(few, ", "), LeastRounds)
		d.need(cmp.Or(d.more(cells), d.longer()))
	}
	if len(t.figures) == 0 {
		return nil
	}
	for _, rounds := range matched(columns) {
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

// matched pairs rounds of the cells: each row has one round for each cell. It uses the same
// round of all cells, or, if fewer than six rounds are usable in all, the usable rounds of
// each cell in their order. Every round makes all cells, so such rounds are not far apart in
// time. Verdicts decide what is usable, so no round is selected by its figures.
func matched(columns [][]column) [][]int {
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
	if len(same) >= LeastRounds {
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
