package report

import (
	"slices"
	"strings"

	"sixnines/internal/study"
	"sixnines/result"
)

// studyTable is a table of a study.
type studyTable struct {
	Title, Caption string
	Alone          bool         // its title is that of its section
	Groups         []studyGroup // over the heads; empty: there are none
	Heads          []string     // the first column's too
	Rows           []studyRow
	Words          bool // its cells are words, and not numbers
	Notes          []string
}

type studyGroup struct {
	Label string
	Span  int
}

type studyRow struct {
	Name, Key string // Key: where the row's evidence is; empty: the row is of several cells
	Cells     []studyText
}

// studyText is a cell of a table.
type studyText struct {
	Text, Interval string
	Theirs         []string // what the original printed there
	Note           string
	Title          string // all of it, in words
	Class, Key     string
}

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
func (v *studyView) table(x *study.Table) studyTable {
	t := studyTable{Title: plain(x.Title)}
	ask := func(name string) wanted { return wanted{name, x.Metric, x.Workload} }
	cells := v.Match(x.Cells)
	if len(cells) == 0 {
		t.Notes = append(t.Notes, "None of its cells is in the length "+plain(v.Length)+".")
		return t
	}
	if x.Rows == study.RowsCells {
		t.Heads = append([]string{"cell"}, x.Columns...)
		for _, c := range cells {
			r := studyRow{Name: cellTitle(&c.Cell), Key: cellKey(c.Cell.Name)}
			for _, name := range x.Columns {
				r.Cells = append(r.Cells, v.tableCell(c, ask(name), x.Original))
			}
			t.Rows = append(t.Rows, r)
		}
	} else {
		v.cross(&t, x, cells)
	}
	if x.Original {
		t.Notes = append(t.Notes, v.sources(cells, x.Columns)...)
	}
	for i := range t.Rows {
		t.Rows[i].empty()
	}
	return t
}

// cross fills a table of which both systems and loads are directions.
func (v *studyView) cross(t *studyTable, x *study.Table, cells []*study.CellOutcome) {
	var rows, groups []string
	titles, at := map[string]string{}, map[[2]string]*study.CellOutcome{}
	for _, c := range cells {
		row, group, rowTitle, groupTitle := c.Cell.System.Name, c.Cell.Load.Name, c.Cell.System.Title, c.Cell.Load.Title
		if x.Rows == study.RowsLoads {
			row, group, rowTitle, groupTitle = group, row, groupTitle, rowTitle
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		titles["row "+row], titles["group "+group], at[[2]string{row, group}] = plain(rowTitle), plain(groupTitle), c
	}
	t.Heads = []string{"system"}
	if x.Rows == study.RowsLoads {
		t.Heads[0] = "load"
	}
	for _, g := range groups {
		t.Groups = append(t.Groups, studyGroup{titles["group "+g], len(x.Columns)})
		t.Heads = append(t.Heads, x.Columns...)
	}
	for _, name := range rows {
		r := studyRow{Name: titles["row "+name]}
		for _, g := range groups {
			for _, column := range x.Columns {
				if c := at[[2]string{name, g}]; c != nil {
					cell := v.tableCell(c, wanted{column, x.Metric, x.Workload}, x.Original)
					cell.Key = cellKey(c.Cell.Name)
					r.Cells = append(r.Cells, cell)
				} else {
					r.Cells = append(r.Cells, studyText{})
				}
			}
		}
		t.Rows = append(t.Rows, r)
	}
}

// empty leaves why there are no numbers at the first of neighbours that have the same
// reason.
func (r *studyRow) empty() {
	last := ""
	for i := range r.Cells {
		note := r.Cells[i].Note
		if note != "" && note == last {
			r.Cells[i].Note = ""
		}
		last = note
	}
}

// sources are where the original's figures of a table are from, with what is to be
// said of them.
func (v *studyView) sources(cells []*study.CellOutcome, columns []string) []string {
	var out []string
	for _, c := range cells {
		for _, name := range columns {
			for _, x := range v.theirs(c.Cell.Name, name) {
				if text := "Theirs: " + words("; ", x.source, x.note) + "."; !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// wordsOf are the figures that the original told in its text, of the cells that a
// section shows and no earlier one did, with what is seen today; nil if there are none.
func (v *studyView) wordsOf(x *study.Section) *studyTable {
	t := &studyTable{Title: "What the original told of it", Heads: []string{"of", "theirs", "source", "today"}, Words: true}
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
			today := studyText{Text: "–", Class: "none"}
			if f.Figure != "" {
				today = v.tableCell(c, wanted{name: f.Figure}, false)
				if today.Class != "none" {
					today.Text = f.Figure + " " + today.Text
				}
				today.Class = words(" ", today.Class, "number")
			}
			t.Rows = append(t.Rows, studyRow{Name: cellTitle(&c.Cell), Key: cellKey(c.Cell.Name),
				Cells: []studyText{{Text: words("; ", plain(f.Words), plain(f.Note))}, {Text: plain(f.Source)}, today}})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// allCells is the table of all cells of the length.
func (v *studyView) allCells() studyTable {
	t := studyTable{Title: "All cells", Alone: true, Heads: []string{"cell", "verdict"}}
	columns := []string{"p50", "p99", "p99.9", "p99.99", "rate.sent"}
	if v.benchmarks() {
		columns = benchFigures()
	}
	t.Heads = append(t.Heads, columns...)
	for i := range v.Cells {
		c := &v.Cells[i]
		r := studyRow{Name: cellTitle(&c.Cell), Key: cellKey(c.Cell.Name), Cells: []studyText{v.verdict(c)}}
		for _, name := range columns {
			r.Cells = append(r.Cells, v.tableCell(c, wanted{name: name}, false))
		}
		r.empty()
		t.Rows = append(t.Rows, r)
	}
	return t
}

// benchmarks reports whether all cells are micro-benchmarks.
func (v *studyView) benchmarks() bool {
	return !slices.ContainsFunc(v.Cells, func(c study.CellOutcome) bool { return c.Cell.Load.Bench == "" })
}

// benchFigures are the figures of a micro-benchmark.
func benchFigures() []string { return []string{"bench.op", "bench.allocs", "bench.bytes"} }

// verdict is the worst verdict of a cell's rounds, and of how many; where all are VALID,
// up to where every one is.
func (v *studyView) verdict(c *study.CellOutcome) studyText {
	counts, made, to := map[result.Status]int{}, 0, ""
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
	for _, s := range []result.Status{result.Invalid, result.Unstable, result.Suspect, result.Valid} {
		if n := counts[s]; n > 0 {
			t := studyText{Text: string(s), Class: statusClass(s)}
			if n < made {
				t.Text += " " + count(n) + " of " + count(made)
			} else if s == result.Valid && to != "" {
				t.Text = plain(result.Verdict{Status: s, ValidTo: to}.String())
			}
			return t
		}
	}
	return studyText{Text: "–", Class: "none"}
}

// semantics says of each system what its numbers mean, as its runs found it.
func (v *studyView) semantics() studyTable {
	t := studyTable{Title: "The systems, and what their figures mean", Words: true, Alone: true,
		Caption: "As the runs found it, of a system's first cell that has a run. Systems that promise different things are not ranked by their latency.",
		Heads:   []string{"system", "what ran", "durability", "replication", "an acknowledgement is", "delivery", "client"}}
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
		r := studyRow{Name: plain(s.Title)}
		if first == nil {
			why := "not measured"
			if x, ok := v.skipped[s.Name]; ok {
				why = plain(x.Why)
			}
			r.Cells = []studyText{{Text: why, Class: "none"}, {}, {}, {}, {}, {}}
		} else {
			h := &first.Header
			what := words(", ", brokerLine(h), "driver "+plain(h.Driver))
			sem := &h.Semantics
			for _, text := range []string{what, plain(sem.Durability), plain(sem.Replication), plain(sem.Acknowledgment), plain(sem.Delivery), plain(sem.Settings["client"])} {
				r.Cells = append(r.Cells, studyText{Text: words("", text)})
			}
			if unlike > 0 {
				r.Cells[1].Note = "otherwise in " + plural(unlike, "cell")
			}
		}
		if s.StandsFor != "" {
			r.Cells[0].Note = words("; ", r.Cells[0].Note, plain(s.StandsFor))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// semanticsWords are what makes runs unlike beside their load.
func semanticsWords(r *result.Run) string {
	s := &r.Header.Semantics
	return strings.Join([]string{s.Durability, s.Replication, s.Acknowledgment, s.Delivery, r.Header.Ack}, "\n")
}
