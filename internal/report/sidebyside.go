package report

import "sixnines/result"

// terminalSideBySide writes the percentile tables of several runs, a table for
// each kind of latency and a column for each run, in as many pieces as the
// width demands.
func terminalSideBySide(p *printer, subjects []*subject) {
	for _, kind := range tabled() {
		if kind.Apart {
			continue
		}
		for _, k := range kind.Columns {
			var with []*subject
			for _, s := range subjects {
				if s.column(k.Metric) != nil {
					with = append(with, s)
				}
			}
			if len(with) == 0 {
				continue
			}
			p.heading(kind.Name+", "+k.Head, "")
			for first := true; len(with) > 0; first = false {
				if !first {
					p.blank()
				}
				n := len(with)
				g := sideBySide(with, k.Metric)
				for n > 1 && g.total() > p.width {
					n--
					g = sideBySide(with[:n], k.Metric)
				}
				g.write(p)
				for _, s := range with[:n] {
					if c := s.column(k.Metric); c.Note != "" {
						p.wrapped("  ", s.letter+": "+c.Note, faint)
					}
				}
				with = with[n:]
			}
		}
	}
}

// sideBySide is one metric of several runs.
func sideBySide(subjects []*subject, m result.Metric) *grid {
	g := &grid{head: []cell{{}}, wrap: 24}
	for i := -1; i < len(rows()); i++ {
		var r gridRow
		if i >= 0 {
			r.cells = []cell{{text: rowName(rows()[i]), style: strong}}
		}
		for _, s := range subjects {
			c := s.column(m)
			if i < 0 {
				g.head = append(g.head, cell{text: s.label, right: true})
				if c.hasOwn() {
					g.head = append(g.head, cell{text: "own", right: true})
				}
				continue
			}
			f := c.Figures[i]
			r.cells = append(r.cells, figureCell(f))
			if c.hasOwn() {
				r.cells = append(r.cells, ownCell(f))
			}
			for _, n := range f.notes() {
				r.notes = append(r.notes, s.letter+": "+n)
			}
		}
		if i >= 0 {
			g.rows = append(g.rows, r)
		}
	}
	return g
}
