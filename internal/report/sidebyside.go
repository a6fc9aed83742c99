package report

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
				x := sideBySide(with, k.Metric)
				for n > 1 && x.total() > p.width {
					n--
					x = sideBySide(with[:n], k.Metric)
				}
				for _, s := range with[:n] {
					if c := s.column(k.Metric); c.Note != "" {
						x.After = append(x.After, s.letter+": "+c.Note)
					}
				}
				p.table(x, "")
				with = with[n:]
			}
		}
	}
}
