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
	for _, r := range besidesRows(c) {
		p.wrapped("  regression  ", plain(r), bad)
	}
	compareDifferences(p, c)
	compareLeft(p, c)
	if c.Throughput != nil {
		p.heading("Throughput", "")
		compareGrid(p, []compare.Row{*c.Throughput}, c)
		compareSpread(p, []compare.Row{*c.Throughput})
	}
	for _, m := range c.Metrics {
		p.heading(metricName(m.Metric), "")
		if c.Stated() {
			p.wrapped("  ", compareAbout(m, c), faint)
		}
		compareGrid(p, m.Rows, c)
		compareSpread(p, m.Rows)
	}
	compareAccounts(p, c)
	if c.Stated() {
		p.blank()
		for _, line := range compareLegend(c) {
			p.wrapped("  ", line, faint)
		}
	}
}

// compareLegend explains the columns.
func compareLegend(c *compare.Comparison) []string {
	columns := fmt.Sprintf("A and B: the median of the runs. Change: B against A over the pairs, with its interval by sign flips of %d pairs; p = %.3g.", len(c.Pairs), c.P)
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
			p.wrapped("  ", plain(d.What)+": A "+plain(d.A)+", B "+plain(d.B), normal)
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
		p.wrapped(lead, plain(d.What)+": A "+plain(d.A)+", B "+plain(d.B)+" ("+plain(d.Why)+")", st)
	}
	if c.Refused != "" && !c.Asked {
		p.wrapped("  ", "So there is no ranking; the figures are shown side by side. --rank-unlike ranks them in spite of this.", strong)
	}
}

// compareLeft names the pairs that were replaced, the runs that are not used, and why others are suspect.
func compareLeft(p *printer, c *compare.Comparison) {
	if len(c.Replaced) > 0 {
		p.heading("Replaced", "")
		for _, text := range replacedTexts(c) {
			p.wrapped("  ", text, normal)
		}
	}
	if len(c.Left) > 0 {
		p.heading("Left out", "")
		for _, l := range c.Left {
			p.wrapped("  "+l.Side+" ", plain(l.Run)+": "+plain(l.Why), normal)
		}
	}
	if len(c.SuspectReasons) > 0 {
		p.heading("Suspect", "")
		for _, d := range c.SuspectReasons {
			p.wrapped("  "+d.Side+" ", suspectText(d, setNamed(c, d.Side)), warning)
		}
	}
}

// compareGrid writes figures and statements. Changes in nanoseconds give way
// where there is no room: the ranges below tell the scale.
func compareGrid(p *printer, rows []compare.Row, c *compare.Comparison) {
	for _, full := range []bool{true, false} {
		g := &grid{head: []cell{{}, {text: "A", right: true}, {text: "B", right: true}}}
		stated, verdicts := false, false
		for _, r := range rows {
			stated = stated || r.Shift != nil
			verdicts = verdicts || r.Outcome != ""
		}
		if stated {
			g.head = append(g.head, cell{text: "change", right: true})
			if full {
				g.head = append(g.head, cell{text: "by", right: true})
			}
			g.head = append(g.head, cell{text: "95 % interval"})
		}
		if verdicts {
			g.head = append(g.head, cell{})
		}
		for _, r := range rows {
			row := gridRow{notes: r.Notes, cells: []cell{{text: compareRowName(r), style: strong},
				{text: compareMedian(r, r.A), right: true}, {text: compareMedian(r, r.B), right: true}}}
			if stated {
				row.cells = append(row.cells, cell{text: compareChange(r), right: true})
				if full {
					row.cells = append(row.cells, cell{text: compareBy(r), right: true})
				}
				row.cells = append(row.cells, cell{text: compareInterval(r), style: faint})
			}
			if verdicts {
				row.cells = append(row.cells, cell{text: outcomeWord(r.Outcome, c.MinEffect), style: outcomeStyle(r.Outcome)})
			}
			g.rows = append(g.rows, row)
		}
		if !full || g.total() <= p.width {
			g.write(p)
			return
		}
	}
}

// compareSpread writes how much the runs of each set differ among themselves,
// beside what one run knows of its own figure.
func compareSpread(p *printer, rows []compare.Row) {
	g := &grid{head: []cell{{text: "from run to run"}, {text: "A", right: true}, {text: "spread", right: true},
		{text: "B", right: true}, {text: "spread", right: true}, {text: "within a run", right: true}}}
	for _, r := range rows {
		if r.A.Runs < 2 && r.B.Runs < 2 {
			continue
		}
		w := within(r.A)
		if r.B.Within > r.A.Within {
			w = within(r.B)
		}
		g.rows = append(g.rows, gridRow{cells: []cell{{text: compareRowName(r)},
			{text: compareRange(r, r.A), right: true}, {text: between(r.A), right: true},
			{text: compareRange(r, r.B), right: true}, {text: between(r.B), right: true}, {text: w, right: true}}})
	}
	if len(g.rows) == 0 {
		return
	}
	p.blank()
	if g.total() > p.width {
		p.line(faint.paint("  "+g.head[0].text, p.colour))
		g.head[0].text = ""
	}
	if g.total() > p.width { // the ranges in two lines a row would be read as two rows
		g.head, g.rows = without(g, 5)
	}
	g.write(p)
}

// without drops a column.
func without(g *grid, column int) ([]cell, []gridRow) {
	rows := make([]gridRow, len(g.rows))
	for i, r := range g.rows {
		rows[i] = gridRow{cells: append(append([]cell(nil), r.cells[:column]...), r.cells[column+1:]...), notes: r.notes}
	}
	return append(append([]cell(nil), g.head[:column]...), g.head[column+1:]...), rows
}

// compareAccounts writes counts and rates.
func compareAccounts(p *printer, c *compare.Comparison) {
	if len(c.Accounts) == 0 {
		return
	}
	p.heading("Messages", "")
	g := &grid{head: []cell{{}, {text: "A", right: true}, {text: "B", right: true}}}
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		row := gridRow{cells: []cell{{text: a.Name}, {text: left, right: true}, {text: right, right: true}}}
		if strings.HasPrefix(a.Name, "lost") && (a.A > 0 || a.B > 0) {
			for i, v := range []float64{a.A, a.B} {
				if v > 0 {
					row.cells[1+i].style = bad
				}
			}
		}
		g.rows = append(g.rows, row)
	}
	g.write(p)
}
