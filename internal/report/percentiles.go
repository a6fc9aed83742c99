package report

import (
	"slices"
	"strings"

	"sixnines/result"
)

// series is a column of a table of percentiles: its head, and its cell of the i-th row.
type series struct {
	head cell
	of   func(i int) cell
}

// latency is a column of a run with the name that remarks on its figures have.
type latency struct {
	*column
	name string
}

// percentileTable lays series side by side, a row each for the percentiles and the
// maximum, with the remarks on the figures of latencies, each once. The first latency
// needs no name, if it is alone.
func percentileTable(first string, all []series, latencies []latency, alone bool) *table {
	x := &table{Head: textCells(first)}
	for _, s := range all {
		x.Head = append(x.Head, s.head)
	}
	for i, p := range rows() {
		r := x.add(rowName(p))
		for _, s := range all {
			r.Cells = append(r.Cells, s.of(i))
		}
		for k, l := range latencies {
			for _, n := range l.Figures[i].notes() {
				if !alone || k > 0 && !slices.Contains(r.Notes, n) {
					n = l.name + ": " + n
				}
				r.Notes = appendNew(r.Notes, n)
			}
		}
	}
	return x
}

// figures are the column's percentiles under a head, and where it is known the
// generator's own share of each.
func (c *column) figures(head, own string) []series {
	out := []series{{cell{Text: head, Right: true}, func(i int) cell { return figureCell(c.Figures[i]) }}}
	if c.hasOwn() {
		out = append(out, series{cell{Text: own, Right: true}, func(i int) cell { return ownCell(c.Figures[i]) }})
	}
	return out
}

// floors say how many times the noise floor each is.
func (c *column) floors() series {
	return series{cell{Text: "÷ floor", Right: true, Title: "how many times the noise floor of this machine"}, func(i int) cell {
		f, x := c.Figures[i], cell{Class: "own", Style: faint}
		if f.ok() {
			x.Text = timesFloor(f.Floor)
		}
		if f.nearFloor() {
			x.Style = warning
		}
		return x
	}}
}

// intervals are the 95 % intervals of each, under a head.
func (c *column) intervals(head string) series {
	return series{cell{Text: head, Centre: true, Title: "exact binomial order statistics"}, func(i int) cell {
		return cell{Text: c.Figures[i].interval(), Style: faint, Class: "interval"}
	}}
}

// blocks are the intervals by stretches of the run.
func (c *column) blocks() series {
	return series{cell{Text: "by stretches", Title: "95 % interval by stretches of the run: a burst counts as one event"}, func(i int) cell {
		f := c.Figures[i]
		x := cell{Text: f.blocks(), Class: "interval"}
		if f.ok() && f.BlockHi == 0 {
			x.Notes = cellNotes("note", f.BlockNA)
		}
		return x
	}}
}

// figureCell is a percentile in a table. A space after " s" lets the points of
// a column of mixed units stand as near to each other as they can.
func figureCell(f figure) cell {
	c := cell{Text: f.text()}
	if strings.HasSuffix(c.Text, " s") {
		c.Text += " "
	}
	switch {
	case f.Refused && !f.Unstable:
		c.Style = bad
	case !f.ok():
		c.Style = faint
	case f.Invalid:
		c.Style = bad
	case f.isSuspect() || f.nearFloor():
		c.Style = warning
	}
	return c
}

// ownCell is an own-lag share; beyond a quarter the percentile is suspect.
func ownCell(f figure) cell {
	c := cell{Text: f.own(), Style: faint, Class: "own"}
	if f.Own > 0.25 {
		c.Style = warning
	}
	return c
}

// percentilesOf is a family of a run for a terminal. The columns of intervals and of the
// floor give way where it is too narrow for them.
func percentilesOf(s *subject, f family) *table {
	var all []series
	var latencies []latency
	first := &f.Columns[0]
	for j := range f.Columns {
		c := &f.Columns[j]
		own := c.figures(c.Head, "own lag")
		if j > 0 {
			whole := own[0].of
			own[0].of = func(i int) cell {
				x := whole(i)
				if needs := c.Figures[i].Needs; needs > 0 && needs == first.Figures[i].Needs {
					x.Text = "n/a" // what it needs stands to the left
				}
				return x
			}
		}
		all, latencies = append(all, own...), append(latencies, latency{c, c.Head})
	}
	gives := []int{len(all) + 1}
	if first.hasFloor() {
		all = append(all, first.floors())
		gives = []int{len(all) + 1, len(all)}
	}
	all = append(all, first.intervals("95 % interval of "+first.Head))
	x := percentileTable("", all, latencies, true)
	x.Name, x.Gives, x.After = f.Name, gives, f.notes(s)
	return x
}

// percentilesInText is a family of all runs for Markdown; nil if none has it.
func percentilesInText(prepared []*subject, f family) *table {
	alone := len(prepared) == 1
	var all []series
	var latencies []latency
	for _, k := range f.Columns {
		for _, s := range prepared {
			c := s.column(k.Metric)
			if c == nil {
				continue
			}
			head := c.Head
			if !alone {
				head = s.letter + " " + head
			}
			all = append(all, c.figures(head, "own lag")...)
			if alone && len(latencies) == 0 {
				all = append(all, c.intervals("95 % interval"))
			}
			latencies = append(latencies, latency{c, head})
		}
	}
	if len(all) == 0 {
		return nil
	}
	x := percentileTable(f.Name, all, latencies, alone)
	for _, s := range prepared {
		x.After = append(x.After, f.notes(s)...)
	}
	return x
}

// sideBySide is one metric of several runs for a terminal.
func sideBySide(subjects []*subject, m result.Metric) *table {
	var all []series
	var latencies []latency
	for _, s := range subjects {
		c := s.column(m)
		all, latencies = append(all, c.figures(s.label, "own")...), append(latencies, latency{c, s.letter})
	}
	x := percentileTable("", all, latencies, false)
	x.Wrap, x.Fixed = 24, true
	return x
}

// percentilesOnPage is a family of all runs for the page; nil if none has it. The
// intervals of a run that is alone have columns; those of several are shown on hovering.
func percentilesOnPage(prepared []*subject, f family) *table {
	var all []series
	var groups []group
	about := f.About
	for _, s := range prepared {
		before := len(all)
		for _, k := range f.Columns {
			c := s.column(k.Metric)
			if c == nil {
				continue
			}
			own := c.figures(c.Head, "own lag")
			own[0].head.Title = metricName(c.Metric)
			if c.Note != "" {
				own[0].head.Title = c.Note
			}
			own[0].of = func(i int) cell {
				f := c.Figures[i]
				x := figureCell(f)
				x.Notes = cellNotes("note", f.notes()...)
				if i := f.interval(); i != "" {
					x.Title = "95 % interval " + i
				}
				return x
			}
			if len(own) > 1 {
				own[1].head.Title = "share of the percentile that is the generator's own delay"
			}
			all = append(all, own...)
			if c.hasFloor() {
				all = append(all, c.floors())
			}
			if len(prepared) == 1 && !c.Corrected {
				all = append(all, c.intervals("95 % interval"))
				if c.hasBlocks() {
					all = append(all, c.blocks())
				}
			}
		}
		about = joinNonEmpty(" ", append([]string{about}, f.notes(s)...)...)
		if n := len(all) - before; n > 0 {
			groups = append(groups, group{s.label, n})
		}
	}
	if len(all) == 0 {
		return nil
	}
	x := percentileTable("percentile", all, nil, true)
	x.Name, x.About, x.Class, x.Titled = f.Name, about, "figures", true
	if len(prepared) > 1 {
		x.Groups = groups
	}
	return x
}
