package report

import (
	"io"
	"slices"
	"strings"

	"sixnines/internal/study"
)

// studyWidth is the number of columns that a study takes at most.
const studyWidth = 80

// StudyTerminal writes a study for people at a terminal, in short: how each conclusion
// stands, then the table of all cells. The page has all of it.
func StudyTerminal(w io.Writer, o *study.Outcome, opt Options) error {
	d := newStudyDoc(o)
	if opt.Width < 40 || opt.Width > studyWidth {
		opt.Width = studyWidth
	}
	p := newPrinter(opt)
	p.line(strong.paint("Study: "+d.Title, p.colour))
	for _, b := range d.Warnings {
		p.wrapped("  ", b.Head+": "+b.Text, warning)
	}
	p.joined("  ", d.Facts, dot, faint)
	if d.Standing != "" {
		p.blank()
		p.wrapped("", d.Standing, strong)
	}
	for _, c := range d.Conclusions {
		p.wrapped("  ", c.Verdict+": "+c.Claim, studyStyle(study.Verdict(c.Verdict)))
		for i, t := range c.Tests {
			switch decided := t.Class != verdictClass(study.Undecidable); {
			case decided:
				p.wrapped("      ", t.Text, faint)
			case i == 0 && c.Class == t.Class: // why, in brief: the page has the others
				p.wrapped("      ", shorten(t.Text, 2*studyWidth-20), faint)
			}
		}
	}
	terminalSection(p, d.cellSection(), "")
	if len(d.Skipped) > 0 {
		p.heading("Not measured", "")
		for _, text := range d.skippedBriefly() {
			p.wrapped("  ", text, faint)
		}
	}
	if d.GoOn != "" {
		p.blank()
		p.wrapped("  ", "go on: "+d.GoOn, strong)
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

// skippedBriefly names the systems that were not measured by their reasons; of how they
// can be only what going on does not do by itself.
func (d *studyDoc) skippedBriefly() []string {
	var reasons []string
	names, hows := map[string][]string{}, map[string][]string{}
	for _, s := range d.Skipped {
		if names[s.Why] == nil {
			reasons = append(reasons, s.Why)
		}
		names[s.Why] = append(names[s.Why], s.System)
		if s.How != "" && (d.GoOn == "" || !strings.Contains(s.How, d.GoOn)) && !slices.Contains(hows[s.Why], s.How) {
			hows[s.Why] = append(hows[s.Why], s.How)
		}
	}
	var out []string
	for _, why := range reasons {
		out = append(out, words(" – ", why+": "+strings.Join(names[why], "; "), strings.Join(hows[why], "; ")))
	}
	return out
}

// cellSection is the table of the cells that have trials, the rate before the latencies
// where some are flat out.
func (d *studyDoc) cellSection() *section {
	order := make([]int, len(d.Cells.Heads)-1)
	for i := range order {
		order[i] = i
	}
	if last := len(order) - 1; d.FlatOut {
		order = append([]int{0, last}, order[1:last]...)
	}
	x := &section{Name: d.Cells.Title, Heads: []string{"cell"}, Align: "ll", Mark: 1}
	for i, k := range order {
		x.Heads = append(x.Heads, d.Cells.Heads[k+1])
		if i > 0 {
			x.Align += "r"
		}
	}
	for i, r := range d.Cells.Rows {
		if len(d.Evidence[i].Trials) == 0 {
			continue // told below
		}
		row := sectionRow{Cells: []string{d.Evidence[i].Name}, Style: rowStyle(r.Cells[0].Class)}
		for _, k := range order {
			row.Cells = append(row.Cells, r.Cells[k].Text)
			if c := r.Cells[k]; row.Note == "" && k == 1 && c.Class == "none" && c.Note != r.Cells[0].Text {
				row.Note = c.Note
			}
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

// studyStyle is how a verdict on a conclusion looks.
func studyStyle(v study.Verdict) style {
	switch v {
	case study.Agrees:
		return good
	case study.Disagrees:
		return bad
	}
	return strong
}

// rowStyle is a class of the style sheet in the terminal.
func rowStyle(class string) style {
	switch class {
	case "valid":
		return good
	case "suspect":
		return warning
	case "bad":
		return bad
	}
	return normal
}
