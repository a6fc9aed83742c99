package report

import (
	"slices"
	"strings"
)

// table holds rows of figures or words with remarks, for a page, for Markdown and for a
// terminal.
type table struct {
	Name    string // empty: the surrounding part has the name
	Of      string // the run, shown before Name if there are several; a page shows it elsewhere
	About   string // a description, above the rows
	Caption string // what it shows and how to read it, below the rows
	Explain bool   // the caption is needed everywhere, not only on the page
	Head    []cell
	Rows    []row
	After   []string // conclusions, below the rows
	Brief   int      // number of rows in a terminal and in Markdown; 0: all
	Rest    string   // where to find the other rows

	// On a page.
	Class  string  // of the style sheet; empty: "sheet figured"
	Key    string  // its anchor
	Titled bool    // its name is inside the table
	Groups []group // above all heads except the first
	Folded bool    // closed until the reader opens it
	Page   bool    // only on a page: elsewhere a line replaces it
	Column bool    // on a page of a single run, a column of another table replaces it

	// In a terminal and in Markdown.
	Gather bool // remarks on cells are shown beside their rows

	// In a terminal.
	Wrap  int   // heads wider than their column and this width are wrapped; 0: no head is
	Gap   int   // spaces between columns; 0: gridGap
	Even  bool  // names in the first column look like other text
	Spill bool  // columns that do not fit are shown below their rows
	Fixed bool  // no column is dropped
	Gives []int // columns to drop, in this order; nil: all except two, from the right
}

// group is a head over several columns.
type group struct {
	Label string
	Span  int
}

// row is a row with its remarks. In a terminal they are to its right if they fit, else below
// it.
type row struct {
	Cells []cell
	Notes []string
	Class string // on a page
}

// cell is text with its style and remarks.
type cell struct {
	Text   string
	Style  style
	Right  bool   // in a head: the column holds numbers, which are flush right
	Centre bool   // in a head, in Markdown
	Of     string // in a head, in a terminal and in Markdown: the prefix of remarks on its cells

	Bold  bool   // in Markdown
	File  bool   // on a page: the text is the name of a file, and links to it
	Class string // on a page: a CSS class beside that of its style
	Title string // on a page: shown on hovering
	Link  string // on a page: the anchor that it links to
	Notes []note // on a page below it, in Markdown in brackets behind it
}

// note is a remark on a cell, with its class on a page.
type note struct{ Text, Class string }

// textCells are cells of plain text.
func textCells(texts ...string) []cell {
	out := make([]cell, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

// columnHeads are the heads of columns, with a letter for each: l for names and words, r for
// numbers.
func columnHeads(align string, names ...string) []cell {
	out := textCells(names...)
	for i := range out {
		out[i].Right = align[min(i, len(align)-1)] == 'r'
	}
	return out
}

// cellNotes are remarks below a cell; empty ones are left out.
func cellNotes(class string, texts ...string) []note {
	var out []note
	for _, text := range texts {
		if text != "" {
			out = append(out, note{text, class})
		}
	}
	return out
}

// add appends a row of plain text.
func (x *table) add(texts ...string) *row {
	x.Rows = append(x.Rows, row{Cells: textCells(texts...)})
	return &x.Rows[len(x.Rows)-1]
}

// noted is the row with remarks; empty ones are left out.
func (r *row) noted(texts ...string) *row {
	for _, text := range texts {
		if text != "" {
			r.Notes = append(r.Notes, text)
		}
	}
	return r
}

// styled is the row with the style of a cell.
func (r *row) styled(column int, s style) *row {
	r.Cells[column].Style = s
	return r
}

// HasNotes reports whether a row has remarks.
func (x *table) HasNotes() bool {
	return slices.ContainsFunc(x.Rows, func(r row) bool { return len(r.Notes) > 0 })
}

// without is the table without a column.
func (x *table) without(column int) *table {
	y := *x
	y.Head = slices.Delete(slices.Clone(x.Head), column, column+1)
	y.Rows = slices.Clone(x.Rows)
	for i := range y.Rows {
		r := &y.Rows[i]
		if column >= len(r.Cells) {
			continue
		}
		if text := r.Cells[column].Text; x.Spill && text != "" {
			r.Notes = append([]string{x.Head[column].Text + ": " + text}, r.Notes...)
		}
		r.Cells = slices.Delete(slices.Clone(r.Cells), column, column+1)
	}
	return &y
}

// shortened returns the table with the rows for a terminal and Markdown, and the number of
// rows left out.
func (x *table) shortened() (*table, int) {
	left := len(x.Rows) - x.Brief
	if x.Brief == 0 || left <= 0 {
		return x, 0
	}
	y := *x
	y.Rows = x.Rows[:x.Brief]
	return &y, left
}

// joinNonEmpty joins what is not empty.
func joinNonEmpty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), separator)
}

// HasHead reports whether a column has a name.
func (x *table) HasHead() bool {
	return slices.ContainsFunc(x.Head, func(c cell) bool { return c.Text != "" })
}

// appendNew appends those of the items that a list does not have yet.
func appendNew[T comparable](list []T, items ...T) []T {
	for _, x := range items {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
