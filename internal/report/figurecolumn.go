package report

import (
	"cmp"
	"slices"
	"strings"

	"sixnines/result"
)

// figureColumn is a column that a latency has in tables of percentiles, in CSV and in
// OpenMetrics: its figures, or what qualifies them.
type figureColumn struct {
	head       cell               // without text the head is the latency's name
	page, text reach              // which latencies have it on a page, and in a terminal and Markdown
	known      func(*column) bool // whether a latency has any values for it; nil: all latencies have
	cell       func(figure) cell  // nil: it is in no table
	gives      int                // in a terminal that is too narrow: 1 is dropped first; 0: never dropped
	fields     []figureField
}

// reach says which latencies of a table have a column.
type reach int

const (
	nowhere reach = iota
	everywhere
	ofFirst // the first latency, if the report has one run
	ofAlone // all latencies, if the report has one run
)

// has reports whether the i-th latency of a table has the column.
func (e reach) has(i int, alone bool) bool {
	return e == everywhere || alone && (e == ofAlone || e == ofFirst && i == 0)
}

// figureField is a column in CSV.
type figureField struct {
	name  string
	of    func(figure) string        // nil: ns
	ns    func(figure) (int64, bool) // the value in ns; false: no value
	bound string                     // its label in OpenMetrics; empty: not in OpenMetrics
	exact func(figure) bool          // in OpenMetrics, whether the value is exact and not itself a bound; nil: always exact
}

// text is the field's value in CSV; empty without one.
func (x figureField) text(f figure) string {
	if x.of != nil {
		return x.of(f)
	}
	if ns, ok := x.ns(f); ok {
		return integer(ns)
	}
	return ""
}

// figureColumns returns all columns of figures. Tables and CSV have the same order, so that
// a new column goes to the end.
func figureColumns() []figureColumn {
	return []figureColumn{
		{head: cell{Right: true}, page: everywhere, text: everywhere, cell: figureCell, fields: []figureField{
			{name: "value_ns", bound: "value", ns: func(f figure) (int64, bool) { return f.Value, f.ok() }}}},

		{head: cell{Text: "own lag", Right: true, Title: "share of the percentile that is the generator's own delay"}, page: everywhere, text: everywhere,
			known: (*column).hasOwnLag, cell: ownCell},

		{head: cell{Text: "95 % interval", Centre: true, Title: "exact binomial order statistics"}, page: ofAlone, text: ofFirst, gives: 1,
			known: (*column).hasIntervals,
			cell:  func(f figure) cell { return cell{Text: f.interval(), Style: faint, Class: "interval"} },
			fields: []figureField{
				{name: "lo_ns", bound: "low", ns: func(f figure) (int64, bool) { return ends(f.Interval).Low, f.interval() != "" }},
				{name: "hi_ns", bound: "high", ns: func(f figure) (int64, bool) {
					return ends(f.Interval).High, f.interval() != "" && !ends(f.Interval).OpenRefused
				},
					exact: func(f figure) bool { return !ends(f.Interval).Open }}}},

		{fields: []figureField{
			{name: "count", ns: func(f figure) (int64, bool) { return f.Messages, true }},
			{name: "mark", of: figure.mark}}},

		{head: cell{Text: "by stretches", Title: "95 % interval by stretches of the run: a burst counts as one event"}, page: ofAlone,
			known: func(c *column) bool { return !c.Corrected && c.hasBlocks() },
			cell: func(f figure) cell {
				x := cell{Text: f.blocks(), Class: "interval"}
				if f.ok() && f.Blocks == nil {
					x.Notes = cellNotes("note", f.BlocksNA)
				}
				return x
			},
			fields: []figureField{
				{name: "block_lo_ns", ns: func(f figure) (int64, bool) { return ends(f.Blocks).Low, f.ok() && f.Blocks != nil }},
				{name: "block_hi_ns", ns: func(f figure) (int64, bool) { return ends(f.Blocks).High, f.ok() && f.Blocks != nil }}}},

		{head: cell{Text: "÷ floor", Right: true, Title: "how many times the noise floor of this machine"}, page: everywhere, text: ofFirst, gives: 2,
			known: (*column).hasFloor, cell: floorCell, fields: []figureField{
				{name: "floor_ratio", of: func(f figure) string {
					if !f.ok() || f.FloorRatio == nil {
						return ""
					}
					return decimal(*f.FloorRatio)
				}}}},
	}
}

// figureFields are the columns of CSV.
func figureFields() (out []figureField) {
	for _, k := range figureColumns() {
		out = append(out, k.fields...)
	}
	return out
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
	if f.OwnShare != nil && *f.OwnShare > 0.25 {
		c.Style = warning
	}
	return c
}

// floorCell is how many times the noise floor a figure is.
func floorCell(f figure) cell {
	c := cell{Class: "own", Style: faint}
	if f.ok() && f.FloorRatio != nil {
		c.Text = timesFloor(*f.FloorRatio)
	}
	if f.nearFloor() {
		c.Style = warning
	}
	return c
}

// latencyOf is a latency of a run in a table.
type latencyOf struct {
	*column
	head, short string // of its figures, and before what else is said of it where others are beside it
}

// percentileTables lays a family out, with a row for each percentile and the maximum: as one
// table on a page or for a single run, else as one table for each latency. Metrics that no
// run has are left out.
func percentileTables(prepared []*subject, f family, in medium) []*table {
	alone := len(prepared) == 1
	if in == onPage || alone {
		x := &table{Name: f.Name, Of: prepared[0].of(), Gather: true}
		var all []latencyOf
		for _, s := range prepared {
			var own []latencyOf
			for _, k := range f.Columns {
				if c := s.column(k.Metric); c != nil {
					own = append(own, latencyOf{c, c.Head, c.Head})
				}
			}
			if n := len(x.Head); len(own) > 0 {
				x.figures(own, alone, in)
				x.Groups = append(x.Groups, group{s.label, len(x.Head) - max(n, 1)})
			}
			x.After, all = append(x.After, f.notes(s)...), append(all, own...)
		}
		if in == onPage {
			x.About, x.After = joinNonEmpty(" ", append([]string{f.About}, x.After...)...), nil
			x.Class, x.Titled = "figures", true
		}
		if alone {
			x.Groups = nil
		}
		if len(all) == 0 {
			return nil
		}
		return []*table{x}
	}
	var out []*table
	for _, k := range f.Columns {
		x := &table{Name: f.Name + ", " + k.Head, Gather: true, Wrap: 24, Fixed: true}
		for _, s := range prepared {
			if c := s.column(k.Metric); c != nil {
				n := len(x.Head)
				x.figures([]latencyOf{{c, s.label, s.letter}}, false, in)
				x.Groups = append(x.Groups, group{"", len(x.Head) - max(n, 1)})
				if c.Note != "" {
					x.After = append(x.After, s.letter+": "+c.Note)
				}
			}
		}
		if len(x.Rows) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// figures appends the columns of latencies. alone: no other run is in the table, so the
// first latency needs no name in remarks.
func (x *table) figures(all []latencyOf, alone bool, in medium) {
	if len(x.Rows) == 0 {
		x.Head, x.Gives = textCells(""), []int{}
		if in == onPage {
			x.Head[0].Text = "percentile"
		}
		for _, p := range rows() {
			x.add(rowName(p))
		}
	}
	gives := map[int]int{}
	for i, l := range all {
		for _, k := range figureColumns() {
			e := k.text
			if in == onPage {
				e = k.page
			}
			if k.cell == nil || !e.has(i, alone) || k.known != nil && !k.known(l.column) {
				continue
			}
			figures := k.head.Text == ""
			head := k.head
			if figures {
				head.Text, head.Title = l.head, cmp.Or(l.Note, metricName(l.Metric))
				if !alone || i > 0 {
					head.Of = l.short
				}
			}
			if k.gives > 0 {
				gives[k.gives] = len(x.Head)
			}
			x.Head = append(x.Head, head)
			for j, f := range l.Figures {
				c := k.cell(f)
				if figures {
					c.Notes = cellNotes("note", f.notes()...)
					if text := f.interval(); text != "" {
						c.Title = "95 % interval " + text
					}
					if in != onPage && alone && i > 0 && f.Needs > 0 && f.Needs == all[0].Figures[j].Needs {
						c.Text = "n/a" // what it needs stands to the left
					}
				}
				x.Rows[j].Cells = append(x.Rows[j].Cells, c)
			}
		}
	}
	for i := range len(figureColumns()) {
		if at, ok := gives[i+1]; ok {
			x.Gives = append(x.Gives, at)
		}
	}
}

// gathered returns the table with the remarks on cells moved to their rows, each once, after
// the column's name for them.
func (x *table) gathered() *table {
	if !x.Gather {
		return x
	}
	y := *x
	y.Rows = slices.Clone(x.Rows)
	for i := range y.Rows {
		r := &y.Rows[i]
		r.Cells, r.Notes = slices.Clone(r.Cells), slices.Clone(r.Notes)
		for j := range r.Cells {
			for _, n := range r.Cells[j].Notes {
				text := n.Text
				if of := x.Head[j].Of; of != "" && !slices.Contains(r.Notes, text) {
					text = of + ": " + text
				}
				r.Notes = appendNew(r.Notes, text)
			}
			r.Cells[j].Notes = nil
		}
	}
	return &y
}

// measuredFigures are those of a run's latencies in the order of [result.Metrics], with
// and without the variants that are not measured, of each that has messages.
func (s *subject) measuredFigures(withCorrected bool) []*column {
	var out []*column
	for _, m := range result.Metrics() {
		names := []result.Metric{m, succeededOf(m)}
		if withCorrected {
			names = append(names, m+correctedSuffix)
		}
		for _, name := range names {
			if c := s.column(name); c != nil && c.Dist.Total() > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}
