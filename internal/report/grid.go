package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// wrapWidth is the width of heads that are names and expressions.
const wrapWidth = 14

// style is the role of a piece of text, not its look.
type style int

const (
	normal style = iota
	strong
	faint
	good
	warning
	bad
	alarm // a banner that must not be missed
)

// class is a style as the style sheet knows it.
func (s style) class() string {
	return map[style]string{good: "valid", warning: "suspect", bad: "bad", faint: "none"}[s]
}

// paint applies a style as ANSI sequences; without colour it does nothing.
func (s style) paint(text string, colour bool) string {
	codes := [...]string{normal: "", strong: "1", faint: "2", good: "1;32", warning: "1;33", bad: "1;31", alarm: "1;7;33"}
	if !colour || codes[s] == "" || text == "" {
		return text
	}
	return "\x1b[" + codes[s] + "m" + text + "\x1b[0m"
}

const (
	gridIndent = 2
	gridGap    = 3
)

// widths returns the width of each column.
func (x *table) widths() []int {
	w := make([]int, len(x.Head))
	for _, r := range x.Rows {
		for i, c := range r.Cells {
			w[i] = max(w[i], lipgloss.Width(c.Text))
		}
	}
	for i := range x.Head {
		for _, line := range x.headLines(i, w[i]) {
			w[i] = max(w[i], lipgloss.Width(line))
		}
	}
	return w
}

// headLines is the head of a column whose cells have a width.
func (x *table) headLines(i, width int) []string {
	if x.Wrap == 0 {
		return []string{x.Head[i].Text}
	}
	return divided(x.Head[i].Text, max(width, x.Wrap))
}

// divided breaks text into lines of a width: at spaces, or after the signs that join the
// parts of a name; a line without either is broken where it is full.
func divided(text string, width int) []string {
	var lines []string
	for {
		text = strings.TrimLeft(text, " ")
		at, end := 0, 0 // the last possible break, and where the line is full
		for i, r := range text {
			if lipgloss.Width(text[:i]+string(r)) > width {
				break
			}
			end = i + len(string(r))
			if strings.ContainsRune(" .,_-/", r) {
				at = end
			}
		}
		switch {
		case end == len(text):
			return append(lines, text)
		case end == 0: // even one letter is wider than the line
			_, end = utf8.DecodeRuneInString(text)
			at = end
		case text[end] == ' ' || at == 0:
			at = end
		}
		lines, text = append(lines, strings.TrimRight(text[:at], " ")), text[at:]
		if text == "" {
			return lines
		}
	}
}

// between is how many spaces stand between columns.
func (x *table) between() int {
	if x.Gap > 0 {
		return x.Gap
	}
	return gridGap
}

// total is the number of terminal columns that the table takes without its remarks.
func (x *table) total() int {
	n := gridIndent
	for i, w := range x.widths() {
		if i > 0 {
			n += x.between()
		}
		n += w
	}
	return n
}

// grid writes the rows of a table.
func (p *printer) grid(x *table) {
	widths := x.widths()
	line := func(cells []cell, always style) string {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", gridIndent))
		for i, c := range cells {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", x.between()))
			}
			pad := strings.Repeat(" ", max(0, widths[i]-lipgloss.Width(c.Text)))
			switch {
			case always != normal:
				c.Style = always
			case i == 0 && c.Style == normal && !x.Even:
				c.Style = strong
			}
			painted := c.Style.paint(c.Text, p.colour)
			if x.Head[i].Right {
				b.WriteString(pad + painted)
			} else {
				b.WriteString(painted + pad)
			}
		}
		return b.String()
	}
	if x.HasHead() {
		for _, head := range x.headRows(widths) {
			p.line(strings.TrimRight(line(head, faint), " "))
		}
	}
	for i, r := range x.Rows {
		text := line(r.Cells, normal)
		remarks := strings.Join(r.Notes, "; ")
		room := p.width - lipgloss.Width(text) - gridGap
		if remarks == "" || lipgloss.Width(remarks) <= room {
			if remarks != "" {
				text += strings.Repeat(" ", gridGap) + faint.paint(remarks, p.colour)
			}
			p.line(strings.TrimRight(text, " "))
			continue
		}
		p.line(strings.TrimRight(text, " "))
		// Neighbours with the same remarks share them.
		if i+1 < len(x.Rows) && slices.Equal(r.Notes, x.Rows[i+1].Notes) {
			continue
		}
		first := i
		for first > 0 && slices.Equal(r.Notes, x.Rows[first-1].Notes) {
			first--
		}
		for _, n := range r.Notes {
			if first < i {
				n = x.Rows[first].Cells[0].Text + " to " + r.Cells[0].Text + ": " + n
			}
			p.wrapped("      ↳ ", n, faint)
		}
	}
}

// headRows are the lines of the head; short ones stand at its foot.
func (x *table) headRows(widths []int) [][]cell {
	most := 0
	all := make([][]string, len(x.Head))
	for i := range x.Head {
		all[i] = x.headLines(i, widths[i])
		most = max(most, len(all[i]))
	}
	lines := make([][]cell, most)
	for k := range lines {
		lines[k] = slices.Clone(x.Head)
		for i := range x.Head {
			lines[k][i].Text = ""
			if from := most - len(all[i]); k >= from {
				lines[k][i].Text = all[i][k-from]
			}
		}
	}
	return lines
}

// pieces splits the table into as many parts as the width demands, each with whole groups of
// columns.
func (x *table) pieces(width int) []*table {
	if len(x.Groups) < 2 || x.total() <= width {
		return []*table{x}
	}
	var out []*table
	for from := 0; from < len(x.Groups); {
		to := from + 1
		for to < len(x.Groups) && x.ofGroups(from, to+1).total() <= width {
			to++
		}
		out, from = append(out, x.ofGroups(from, to)), to
	}
	return out
}

// ofGroups is the table with some of its groups of columns.
func (x *table) ofGroups(from, to int) *table {
	at := 1
	for _, g := range x.Groups[:from] {
		at += g.Span
	}
	end := at
	for _, g := range x.Groups[from:to] {
		end += g.Span
	}
	y := *x
	y.Groups, y.Head, y.Rows = x.Groups[from:to], append(slices.Clone(x.Head[:1]), x.Head[at:end]...), slices.Clone(x.Rows)
	for i := range y.Rows {
		c := y.Rows[i].Cells
		y.Rows[i].Cells = append(slices.Clone(c[:1]), c[at:end]...)
	}
	return &y
}

// terminal writes the table. If the terminal is too narrow, a table with groups of columns is
// split, and other tables lose columns.
func (x *table) terminal(p *printer) {
	if x.Name != "" {
		p.heading(x.Name, x.Of)
	}
	if x.About != "" {
		p.wrapped("  ", x.About, faint)
	}
	left := 0
	for i, piece := range x.pieces(p.width) {
		if i > 0 {
			p.blank()
		}
		piece, left = piece.gathered().shortened()
		if piece = piece.narrowed(p.width); len(piece.Rows) > 0 {
			p.grid(piece)
		}
	}
	if left > 0 {
		p.wrapped("  ", "and "+count(int64(left))+" more"+x.Rest, faint)
	}
	if x.Explain {
		p.wrapped("  ", x.Caption, faint)
	}
	for _, a := range x.After {
		p.wrapped("  ", a, faint)
	}
}

// narrowed returns the table without the columns that do not fit a width.
func (x *table) narrowed(width int) *table {
	gives := x.Gives
	for i := len(x.Head) - 1; i > 1 && x.Gives == nil; i-- {
		gives = append(gives, i)
	}
	for i, column := range gives {
		if x.Fixed || x.total() <= width {
			break
		}
		for _, before := range gives[:i] {
			if before < column {
				column--
			}
		}
		x = x.without(column)
	}
	return x
}
