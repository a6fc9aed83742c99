package report

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/study"
	"sixnines/result"
)

// reading says how to read the numbers.
func (v *studyView) reading() string {
	text := "Each number in the tables is that of the median round; no rounds are merged, and INVALID ones are left out. Below it stands "
	if v.rounds() >= study.LeastRounds {
		text += "the 95 % interval of the median over rounds, and of fewer than six rounds what their own intervals span."
	} else {
		text += "what the rounds' own intervals span: under six rounds there is no interval of the median."
	}
	text += " A ? marks what the verdicts do not believe. An empty place says why it is."
	if v.Study.Original != nil {
		text += " Theirs is what the original printed: another machine, and other versions. All other figures are of the runs that this page is made of."
	}
	return text
}

// rounds is the most rounds that a cell has.
func (v *studyView) rounds() int {
	n := 0
	for i := range v.Cells {
		n = max(n, len(v.Cells[i].Trials))
	}
	return n
}

// table is a table of the study.
func (v *studyView) table(x *study.Table) *table {
	t := &table{Name: plain(x.Title), Titled: true, Class: "figures cells"}
	ask := func(name string) wanted { return wanted{name, x.Metric, x.Workload} }
	matched := v.Match(x.Cells)
	if x.Rows == study.RowsCells {
		t.Head = columnHeads("lr", append([]string{"cell"}, x.Columns...)...)
		for _, c := range matched {
			r := row{Cells: []cell{cellLink(&c.Cell)}}
			for _, name := range x.Columns {
				r.Cells = append(r.Cells, v.tableCell(c, ask(name), x.Original))
			}
			t.Rows = append(t.Rows, r)
		}
	} else {
		v.cross(t, x, matched)
	}
	if x.Original {
		t.After = append(t.After, v.sources(matched, x.Columns)...)
	}
	for i := range t.Rows {
		t.Rows[i].empty()
	}
	return t
}

// cross fills a table with systems in one direction and loads in the other.
func (v *studyView) cross(t *table, x *study.Table, matched []*study.CellOutcome) {
	var rows, groups []string
	titles, at := map[string]string{}, map[[2]string]*study.CellOutcome{}
	for _, c := range matched {
		row, group, rowTitle, groupTitle := c.Cell.System.Name, c.Cell.Load.Name, c.Cell.System.Title, c.Cell.Load.Title
		if x.Rows == study.RowsLoads {
			row, group, rowTitle, groupTitle = group, row, groupTitle, rowTitle
		}
		rows, groups = appendNew(rows, row), appendNew(groups, group)
		titles["row "+row], titles["group "+group], at[[2]string{row, group}] = plain(rowTitle), plain(groupTitle), c
	}
	t.Head = textCells("system")
	if x.Rows == study.RowsLoads {
		t.Head = textCells("load")
	}
	for _, g := range groups {
		t.Groups = append(t.Groups, group{titles["group "+g], len(x.Columns)})
		t.Head = append(t.Head, columnHeads("r", x.Columns...)...)
	}
	for _, name := range rows {
		r := row{Cells: textCells(titles["row "+name])}
		for _, g := range groups {
			for _, column := range x.Columns {
				if c := at[[2]string{name, g}]; c != nil {
					figure := v.tableCell(c, wanted{column, x.Metric, x.Workload}, x.Original)
					figure.Link = cellKey(c.Cell.Name)
					r.Cells = append(r.Cells, figure)
				} else {
					r.Cells = append(r.Cells, cell{})
				}
			}
		}
		t.Rows = append(t.Rows, r)
	}
}

// empty keeps the reason for missing numbers only in the first of neighbouring cells with the
// same reason.
func (r *row) empty() {
	last := ""
	for i := range r.Cells {
		c := &r.Cells[i]
		why := ""
		if k := slices.IndexFunc(c.Notes, func(n note) bool { return n.Class == "note" }); k >= 0 {
			if why = c.Notes[k].Text; why == last {
				c.Notes = slices.Delete(c.Notes, k, k+1)
			}
		}
		last = why
	}
}

// sources returns the sources of the original's figures in a table, with remarks.
func (v *studyView) sources(cells []*study.CellOutcome, columns []string) []string {
	var out []string
	for _, c := range cells {
		for _, name := range columns {
			for _, x := range v.theirs(c.Cell.Name, name) {
				out = appendNew(out, "Theirs: "+joinNonEmpty("; ", x.source, x.note)+".")
			}
		}
	}
	return out
}

// wordsOf returns the figures from the original's text, of cells that this section shows
// first, beside the new ones; nil if the text has no such figures.
func (v *studyView) wordsOf(x *study.Section) *table {
	t := &table{Name: "What the original told of it", Titled: true, Head: textCells("of", "theirs", "source", "today")}
	var patterns []string
	for _, c := range x.Charts {
		patterns = append(patterns, c.Cells...)
	}
	for _, c := range x.Tables {
		patterns = append(patterns, c.Cells...)
	}
	if len(patterns) == 0 {
		return nil
	}
	for _, c := range v.Match(patterns) {
		if v.shown[c.Cell.Name] {
			continue
		}
		v.shown[c.Cell.Name] = true
		for i := range v.Study.Figures {
			f := &v.Study.Figures[i]
			if f.Cell != c.Cell.Name || f.Words == "" {
				continue
			}
			today := cell{Text: "–", Style: faint}
			if f.Figure != "" {
				today = v.tableCell(c, wanted{name: f.Figure}, false)
				if today.Style != faint {
					today.Text = f.Figure + " " + today.Text
				}
				today.Class = "number"
			}
			t.Rows = append(t.Rows, row{Cells: []cell{cellLink(&c.Cell), {Text: joinNonEmpty("; ", plain(f.Words), plain(f.Note))}, {Text: plain(f.Source)}, today}})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// allCells is the table of all cells of the length.
func (v *studyView) allCells() *table {
	t := &table{Class: "figures cells", Head: columnHeads("lr", "cell", "verdict")}
	columns := []string{"p50", "p99", "p99.9", "p99.99", "rate.sent"}
	if v.benchmarks() {
		columns = benchFigures()
	}
	t.Head = append(t.Head, columnHeads("r", columns...)...)
	for i := range v.Cells {
		c := &v.Cells[i]
		r := row{Cells: []cell{cellLink(&c.Cell), v.verdict(c)}}
		for _, name := range columns {
			r.Cells = append(r.Cells, v.tableCell(c, wanted{name: name}, false))
		}
		r.empty()
		if how := v.together(c); how != "" {
			r.Cells[0].Notes = cellNotes("note", how)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// together says how a cell's rounds were made with those of the cell that it is compared with; empty: there is none.
func (v *studyView) together(c *study.CellOutcome) string {
	other := plain(c.Cell.Beside)
	if x := v.Cell(c.Cell.Beside); x != nil {
		other = cellTitle(&x.Cell)
	}
	switch how, why := v.Together(c); how {
	case result.DesignBeside:
		return "at the same time as " + other
	case result.DesignApart:
		return joinNonEmpty(": ", "apart from "+other, plain(why))
	}
	return ""
}

// benchmarks reports whether all cells are micro-benchmarks.
func (v *studyView) benchmarks() bool {
	return !slices.ContainsFunc(v.Cells, func(c study.CellOutcome) bool { return c.Cell.Load.Bench == "" })
}

// benchFigures are the figures of a micro-benchmark.
func benchFigures() []string { return []string{"bench.op", "bench.allocs", "bench.bytes"} }

// verdict returns the worst verdict of a cell's rounds, and in how many; if all are VALID,
// the percentile up to which all are.
func (v *studyView) verdict(c *study.CellOutcome) cell {
	counts, made, to := map[result.Status]int{}, 0, result.Percentile("")
	for _, t := range c.Trials {
		if p := t.Run; p != nil {
			if part := study.PartOf(p, ""); part != nil && part.Summary != nil {
				made++
				x := part.Summary.Verdict
				counts[x.Status]++
				if x.ValidTo != "" && (to == "" || percentileAt(x.ValidTo) < percentileAt(to)) {
					to = x.ValidTo
				}
			}
		}
	}
	if counts[result.Valid] == made && to != "" {
		return cell{Text: plain(result.Verdict{Status: result.Valid, ValidTo: to}.String()), Style: good}
	}
	left := ""
	if n := counts[result.Invalid]; n > 0 && n < made { // the figures beside it are those of the others
		left = fmt.Sprintf(", %d INVALID left out", n)
		made, counts[result.Invalid] = made-n, 0
	}
	text, style := worstOf(made, func(s result.Status) int { return counts[s] })
	return cell{Text: text + left, Style: style}
}

// semantics says of each system what its numbers mean, as its runs found it.
func (v *studyView) semantics() *table {
	t := &table{Head: textCells("system", "what ran", "durability", "replication", "an acknowledgement is", "delivery", "client")}
	for i := range v.Study.Systems {
		s := &v.Study.Systems[i]
		var first *result.Run
		there, unlike := false, 0
		for k := range v.Cells {
			c := &v.Cells[k]
			if c.Cell.System.Name != s.Name || c.Cell.Load.Bench != "" {
				continue
			}
			there = true
			for _, trial := range c.Trials {
				if trial.Run == nil {
					continue
				}
				p := study.PartOf(trial.Run, "")
				switch {
				case p == nil:
				case first == nil:
					first = p
				case semanticsWords(p) != semanticsWords(first):
					unlike++
				}
				break
			}
		}
		if !there {
			continue
		}
		r := row{Cells: textCells(plain(s.Title))}
		if first == nil {
			why := "not measured"
			if x, ok := v.skipped[s.Name]; ok {
				why = plain(x.Why)
			}
			r.Cells = append(r.Cells, append([]cell{{Text: why, Style: faint}}, make([]cell, 5)...)...)
		} else {
			h := &first.Header
			what := joinNonEmpty(", ", brokerLine(h), "driver "+plain(h.Driver))
			sem := &h.Semantics
			r.Cells = append(r.Cells, textCells(what, plain(sem.Durability), plain(sem.Replication), plain(sem.Acknowledgment), plain(sem.Delivery), clientOf(sem))...)
			if unlike > 0 {
				r.Cells[2].Notes = cellNotes("note", "otherwise in "+plural(unlike, "cell"))
			}
		}
		if s.StandsFor != "" {
			r.Cells[1].Notes = cellNotes("note", plain(s.StandsFor))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// semanticsWords returns the settings that distinguish runs beside their load.
func semanticsWords(r *result.Run) string {
	s := &r.Header.Semantics
	return strings.Join([]string{s.Durability, s.Replication, s.Acknowledgment, s.Delivery, r.Header.Ack}, "\n")
}
