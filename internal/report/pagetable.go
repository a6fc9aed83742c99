package report

// pageTable is the percentiles of a family, all runs side by side.
type pageTable struct {
	Name, About string
	Groups      []pageGroup
	Heads       []pageHead
	Rows        []pageTableRow
}

type pageGroup struct {
	Label string
	Span  int
}

type pageHead struct{ Name, Title string }

type pageTableRow struct {
	Name  string
	Cells []pageCell
}

type pageCell struct {
	Text, Class string
	Title       string // shown on hovering
	Notes       []string
}

// pageTables builds the tables of percentiles. The intervals of a run that is
// alone have columns; those of several are shown on hovering.
func pageTables(prepared []*subject) []pageTable {
	var out []pageTable
	for _, f := range tabled() {
		if f.Apart {
			continue
		}
		t := pageTable{Name: f.Name, About: f.About}
		t.Rows = make([]pageTableRow, len(rows()))
		for i, p := range rows() {
			t.Rows[i].Name = rowName(p)
		}
		for _, s := range prepared {
			before := len(t.Heads)
			for _, k := range f.Columns {
				c := s.column(k.Metric)
				if c == nil {
					continue
				}
				t.add(c, len(prepared) == 1)
			}
			t.About = words(" ", append([]string{t.About}, f.notes(s)...)...)
			if n := len(t.Heads) - before; n > 0 {
				t.Groups = append(t.Groups, pageGroup{s.label, n})
			}
		}
		if len(t.Heads) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// add appends a metric: its figure, its own share where that is known, and its
// interval.
func (t *pageTable) add(c *column, interval bool) {
	title := metricName(c.Metric)
	if c.Note != "" {
		title = c.Note
	}
	t.Heads = append(t.Heads, pageHead{Name: c.Head, Title: title})
	if c.hasOwn() {
		t.Heads = append(t.Heads, pageHead{"own lag", "share of the percentile that is the generator's own delay"})
	}
	if c.hasFloor() {
		t.Heads = append(t.Heads, pageHead{"÷ floor", "how many times the noise floor of this machine"})
	}
	if interval = interval && !c.Corrected; interval {
		t.Heads = append(t.Heads, pageHead{"95 % interval", "exact binomial order statistics"})
	}
	blocks := interval && c.hasBlocks()
	if blocks {
		t.Heads = append(t.Heads, pageHead{"by stretches", "95 % interval from resampled stretches of the run: a burst counts as one event"})
	}
	for i, f := range c.Figures {
		cell := pageCell{Text: f.text(), Notes: f.notes()}
		if i := f.interval(); i != "" {
			cell.Title = "95 % interval " + i
		}
		switch {
		case f.Refused && !f.Unstable:
			cell.Class = "suspect"
		case !f.ok():
			cell.Class = "none"
		case f.isSuspect() || f.nearFloor():
			cell.Class = "suspect"
		}
		r := &t.Rows[i]
		r.Cells = append(r.Cells, cell)
		if c.hasOwn() {
			class := "own"
			if f.Own > 0.25 {
				class = "own suspect"
			}
			r.Cells = append(r.Cells, pageCell{Text: f.own(), Class: class})
		}
		if c.hasFloor() {
			class := "own"
			if f.nearFloor() {
				class = "own suspect"
			}
			times := ""
			if f.ok() {
				times = timesFloor(f.Floor)
			}
			r.Cells = append(r.Cells, pageCell{Text: times, Class: class})
		}
		if interval {
			r.Cells = append(r.Cells, pageCell{Text: f.interval(), Class: "interval"})
		}
		if blocks {
			text := pageCell{Text: f.blocks(), Class: "interval"}
			if f.ok() && f.BlockHi == 0 && f.BlockNA != "" {
				text.Notes = []string{f.BlockNA}
			}
			r.Cells = append(r.Cells, text)
		}
	}
}
