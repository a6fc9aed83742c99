package report

import "io"

// SweepHTML writes a sweep as one self-contained page: its charts and what
// [SweepTerminal] says, of several workloads those of each.
func SweepHTML(w io.Writer, sweeps ...*Sweep) error {
	var body document
	for _, s := range sweeps {
		body = append(body, s.page()...)
	}
	return writePage(w, plain("Sweep: "+sweeps[0].Title), "sweep", "", nil, body, "Runs are never merged; each has its result file beside this page.")
}

// page is what the page says of a table.
func (s *Sweep) page() document {
	x := s.cells()
	var out document
	if of := s.of(); of != "" {
		out = append(out, heading(of))
	}
	maps, why := sweepHeat(s.Table)
	findings := x.After
	if why != "" {
		findings = append(findings, why)
	}
	for _, f := range findings {
		out = append(out, text{Class: "callout", Text: f})
	}
	var drawn gallery
	for _, c := range sweepCharts(s.Table) {
		c.Key = joinNonEmpty("-", plain(s.Workload), c.Key)
		drawn = append(drawn, pictureOf(c, false))
	}
	for _, h := range maps {
		h.Key = joinNonEmpty("-", plain(s.Workload), h.Key)
		drawn = append(drawn, picture{h.Key, h.Title, h.Caption, h.small(), false, func(bool) string { return drawHeat(h) }})
	}
	caption := x.Caption
	x.Caption, x.After, x.Class = "", nil, "figures cells"
	out = append(out, drawn, part{Title: "Cells", Blocks: document{text{Text: caption}, x}})
	if c := s.costs(); c != nil {
		c.Class = "figures cells"
		out = append(out, part{Title: c.Name, Blocks: document{c}})
	}
	return out
}
