package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// section is a small table with its words: the same for the terminal, the page
// and Markdown.
type section struct {
	Name    string
	Caption string // what it shows and how to read it
	Heads   []string
	Align   string // a letter a column: l for names and words, r for numbers
	Mark    int    // the column that shows a row's style; 0: the second
	Wrap    bool   // heads that are wider than their columns have several lines
	Spill   bool   // columns that find no room go below their rows
	Explain bool   // the caption is needed everywhere, not only on the page
	Rows    []sectionRow
	After   []string
	Folded  bool // on the page: shut until it is opened
	Page    bool // on the page only: elsewhere a line says it
	Column  bool // on the page of a run that is alone a column of the table says it
	Brief   int  // rows in the terminal and in Markdown; 0: all
	Rest    string
}

// sectionRow is a row, with words that explain it.
type sectionRow struct {
	Cells []string
	Note  string
	Style style // of what it says: good, warning, bad
	// Styles are those of further columns.
	Styles map[int]style
}

// terminalSection writes a section for a terminal. Columns from the right give
// way where the terminal is too narrow.
func terminalSection(p *printer, x *section, of string) {
	if x == nil {
		return
	}
	p.heading(x.Name, of)
	columns := len(x.Heads)
	g := x.grid(columns)
	for columns > 2 && g.total() > p.width {
		columns--
		g = x.grid(columns)
	}
	if len(g.rows) > 0 {
		g.write(p)
	}
	if rest := len(x.Rows) - len(g.rows); rest > 0 {
		p.wrapped("  ", "and "+count(int64(rest))+" more"+x.Rest, faint)
	}
	if x.Explain {
		p.wrapped("  ", x.Caption, faint)
	}
	for _, a := range x.After {
		p.wrapped("  ", a, faint)
	}
}

// number reports whether a column holds numbers, which are flush right.
func (x *section) number(i int) bool { return i < len(x.Align) && x.Align[i] == 'r' }

// mark is the column that shows a row's style.
func (x *section) mark() int {
	if x.Mark > 0 {
		return x.Mark
	}
	return 1
}

// styleOf is that of a cell, beside the first column's.
func (x *section) styleOf(r sectionRow, column int) style {
	if s, ok := r.Styles[column]; ok {
		return s
	}
	if column == x.mark() {
		return r.Style
	}
	return normal
}

// grid lays the first columns out.
func (x *section) grid(columns int) *grid {
	g := &grid{}
	if x.Wrap {
		g.wrap = wrapWidth
	}
	for i, h := range x.Heads[:columns] {
		g.head = append(g.head, cell{text: h, right: x.number(i)})
	}
	for i, r := range x.Rows {
		if x.Brief > 0 && i == x.Brief {
			break
		}
		row := gridRow{}
		for j, text := range r.Cells[:columns] {
			c := cell{text: text, right: x.number(j)}
			if j == 0 {
				c.style = strong
			}
			if s := x.styleOf(r, j); s != normal {
				c.style = s
			}
			row.cells = append(row.cells, c)
		}
		if x.Spill {
			for j, text := range r.Cells[columns:] {
				if text != "" {
					row.notes = append(row.notes, x.Heads[columns+j]+": "+text)
				}
			}
		}
		if r.Note != "" {
			row.notes = append(row.notes, r.Note)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// markdownSection writes a section as a table.
func markdownSection(b *bytes.Buffer, x *section, of string) {
	if x == nil {
		return
	}
	title := x.Name
	if of != "" {
		title = of + ": " + title
	}
	fmt.Fprintf(b, "\n**%s**\n", escapeMarkdown(title))
	if len(x.Rows) > 0 {
		b.WriteString("\n|")
		for _, h := range x.Heads {
			b.WriteString(" " + escapeMarkdown(h) + " |")
		}
		b.WriteString(" |\n|")
		for i := range x.Heads {
			if x.number(i) {
				b.WriteString("--:|")
			} else {
				b.WriteString("---|")
			}
		}
		b.WriteString("---|\n")
	}
	for i, r := range x.Rows {
		if x.Brief > 0 && i == x.Brief {
			fmt.Fprintf(b, "\nAnd %s more%s.\n", count(int64(len(x.Rows)-i)), escapeMarkdown(x.Rest))
			break
		}
		b.WriteByte('|')
		for _, c := range r.Cells {
			b.WriteString(" " + escapeMarkdown(c) + " |")
		}
		b.WriteString(" " + escapeMarkdown(r.Note) + " |\n")
	}
	if x.Explain {
		b.WriteString("\n" + escapeMarkdown(x.Caption) + "\n")
	}
	for _, a := range x.After {
		b.WriteString("\n" + escapeMarkdown(a) + "\n")
	}
}

// sheet is a section for the page.
func (x *section) sheet() sheet {
	s := sheet{Name: x.Name, Caption: x.Caption, Open: !x.Folded, After: x.After, Align: x.Align, Mark: x.mark(), Heads: x.Heads}
	noted := slices.ContainsFunc(x.Rows, func(r sectionRow) bool { return r.Note != "" })
	if noted {
		s.Heads = append(slices.Clone(x.Heads), "remark")
	}
	for _, r := range x.Rows {
		row := sheetRow{Name: r.Cells[0], Cells: r.Cells[1:], Class: r.Style.class()}
		if noted {
			row.Cells = append(slices.Clone(row.Cells), r.Note)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// class is a style as the style sheet knows it.
func (s style) class() string {
	switch s {
	case good:
		return "valid"
	case warning:
		return "suspect"
	case bad:
		return "bad"
	case faint:
		return "zero"
	}
	return ""
}

// sections are those of a list that are there.
func sections(all ...*section) []*section {
	var out []*section
	for _, x := range all {
		if x != nil {
			out = append(out, x)
		}
	}
	return out
}

// findings are the sections of one run that every full report has, the most
// telling first. Objectives stand apart: beside the verdict.
func findings(s *subject) []*section {
	out := sections(steadySection(s))
	out = append(out, attributionSections(s)...)
	out = append(out, sections(stageSection(s), blocksSection(s))...)
	out = append(out, tailSections(s)...)
	return append(out, sections(peopleSection(s))...)
}

// words joins what is not empty.
func words(separator string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, separator)
}
