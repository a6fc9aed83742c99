package report

import (
	"fmt"
	"io"
	"strings"

	"sixnines/internal/compare"
)

// CompareTerminal writes a comparison, of one workload, for people: what it comes to, what
// was changed, what is unlike besides, what is left out and suspect, and only then the
// figures. It fits a screen unless opt.Full is set.
func CompareTerminal(w io.Writer, c *compare.Comparison, opt Options) error {
	if opt.Width == 0 && !opt.Full {
		opt.Width = 80
	}
	p := newPrinter(opt)
	if opt.Full {
		compareFull(p, c)
	} else {
		compareScreen(p, c, opt.Page, opt.Details)
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

// compareFull writes all of a comparison.
func compareFull(p *printer, c *compare.Comparison) {
	compareLead(p, c)
	p.joined("  A  ", compareSide(c.A), dot, normal)
	p.joined("  B  ", compareSide(c.B), dot, normal)
	p.wrapped("  ", compareHow(c), normal)
	besides, replaced, left, suspect := compareRemarks(c)
	for _, r := range besides {
		st := bad
		if r.Word == "undecided" {
			st = warning
		}
		p.wrapped(fmt.Sprintf("  %-10s  ", r.Word), r.Text, st)
	}
	compareDifferences(p, c)
	p.remarks("Replaced", replaced, normal)
	p.remarks("Left out", left, normal)
	p.remarks("Suspect", suspect, warning)
	for _, x := range compareTables(c, inShort) {
		x.Fixed = len(x.Head) < 5
		x.Gives = []int{4} // the change in the figure's unit: the ranges below tell the scale
		p.table(x.table, "")
		compareSpread(p, x.all)
	}
	if x := compareAccounts(c); x != nil {
		x.Name = "Messages"
		p.table(x, "")
	}
	if c.Stated() {
		p.blank()
		for _, line := range compareLegend(c) {
			p.wrapped("  ", line, faint)
		}
	}
}

// remarks writes a list under a heading, if there is anything in it.
func (p *printer) remarks(name string, all points, s style) {
	for i, r := range all {
		if i == 0 {
			p.heading(name, "")
		}
		p.wrapped("  ", r.Text, s)
	}
}

// compareLegend explains the columns.
func compareLegend(c *compare.Comparison) []string {
	columns := fmt.Sprintf("A and B: the geometric mean of the runs, and in a table without a change their median. Change: that of B against that of A, which is the mean over the pairs, with its interval by sign flips of %d pairs; p = %.3g.", len(c.Pairs), c.P)
	if c.Refused != "" {
		return []string{columns}
	}
	return []string{
		columns,
		fmt.Sprintf("SLOWER and FASTER: the whole interval is beyond ±%s (downwards %s). Within: the whole interval lies inside. Otherwise not decided.",
			percentage(c.MinEffect), change(1/(1+c.MinEffect))),
		"The maximum is shown and not judged: it grows with the length of a run.",
	}
}

// compareDifferences names what comes with the changes and what is unlike besides,
// before any figure.
func compareDifferences(p *printer, c *compare.Comparison) {
	if len(c.Follows) > 0 {
		p.heading("Comes with the changes", "")
		for _, d := range c.Follows {
			p.wrapped("  ", differenceText(d), normal)
		}
	}
	if len(c.Differences) == 0 && len(c.Follows) > 0 {
		p.blank()
	}
	if len(c.Differences) == 0 {
		p.wrapped("  ", noDifferences(c), normal)
		return
	}
	p.heading("Differences", "")
	for _, d := range c.Differences {
		st := normal
		switch d.Weight {
		case compare.Decisive:
			st = bad
		case compare.Small:
			st = faint
		}
		lead := "  " + string(d.Weight) + strings.Repeat(" ", 10-len(d.Weight))
		p.wrapped(lead, differenceText(d)+" ("+plain(d.Why)+")", st)
	}
	if c.Refused != "" && !c.Asked {
		p.wrapped("  ", "So there is no ranking; the figures are shown side by side. --rank-unlike ranks them in spite of this.", strong)
	}
}

// differenceText is a difference in a line.
func differenceText(d compare.Difference) string {
	return plain(d.What) + ": A " + plain(d.A) + ", B " + plain(d.B)
}

// compareSpread writes how much the runs of each set differ among themselves,
// beside what one run knows of its own figure.
func compareSpread(p *printer, all []compare.Row) {
	x := &table{Head: columnHeads("lr", "from run to run", "A", "spread", "B", "spread", "within a run"), Even: true, Gives: []int{5}}
	for _, r := range all {
		if r.A.Runs < 2 && r.B.Runs < 2 {
			continue
		}
		w := within(r.A)
		if r.B.Within > r.A.Within {
			w = within(r.B)
		}
		x.add(compareRowName(r), compareRange(r, r.A), between(r.A), compareRange(r, r.B), between(r.B), w)
	}
	if len(x.Rows) == 0 {
		return
	}
	p.blank()
	if x.total() > p.width { // the ranges in two lines a row would be read as two rows
		p.line(faint.paint("  "+x.Head[0].Text, p.colour))
		x.Head[0].Text = ""
	}
	p.table(x, "")
}
