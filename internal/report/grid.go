package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// grid lays text out in columns for the terminal. Cells keep their content as
// it is; only the space between them is the grid's.
type grid struct {
	head []cell
	rows []gridRow
	// wrap is the width from which on a head that is wider than its column goes on
	// in the next line; 0: none does. Nothing of it is cut off.
	wrap int
	gap  int // between columns; 0: gridGap
}

// wrapWidth is that of heads which are names and expressions.
const wrapWidth = 14

// gridRow is a row and the remarks that belong to it, which go to its right
// where there is room for them and below it where there is not.
type gridRow struct {
	cells []cell
	notes []string
}

// cell is text with a style; numbers are flush right.
type cell struct {
	text  string
	style style
	right bool
}

// style is what a piece of text is, not how it looks.
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
func (g *grid) widths() []int {
	w := make([]int, len(g.head))
	for _, r := range g.rows {
		for i, c := range r.cells {
			w[i] = max(w[i], lipgloss.Width(c.text))
		}
	}
	for i := range g.head {
		for _, line := range g.headLines(i, w[i]) {
			w[i] = max(w[i], lipgloss.Width(line))
		}
	}
	return w
}

// headLines is the head of a column whose cells have a width.
func (g *grid) headLines(i, width int) []string {
	if g.wrap == 0 {
		return []string{g.head[i].text}
	}
	return divided(g.head[i].text, max(width, g.wrap))
}

// divided returns text in lines of a width: divided at spaces, behind the signs that join
// the parts of a name, and where there are none wherever a line is full.
func divided(text string, width int) []string {
	var lines []string
	for {
		text = strings.TrimLeft(text, " ")
		at, end := 0, 0 // the last place to divide at, and where the line is full
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
		case end == 0: // no letter is so narrow
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
func (g *grid) between() int {
	if g.gap > 0 {
		return g.gap
	}
	return gridGap
}

// total is the number of terminal columns the grid takes without its notes.
func (g *grid) total() int {
	n := gridIndent
	for i, w := range g.widths() {
		if i > 0 {
			n += g.between()
		}
		n += w
	}
	return n
}

// write appends the grid's lines.
func (g *grid) write(p *printer) {
	widths := g.widths()
	line := func(cells []cell, always style) string {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", gridIndent))
		for i, c := range cells {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", g.between()))
			}
			pad := strings.Repeat(" ", max(0, widths[i]-lipgloss.Width(c.text)))
			if always != normal {
				c.style = always
			}
			painted := c.style.paint(c.text, p.colour)
			if c.right {
				b.WriteString(pad + painted)
			} else {
				b.WriteString(painted + pad)
			}
		}
		return b.String()
	}
	if len(g.head) > 0 && hasText(g.head) {
		for _, head := range g.heads(widths) {
			p.line(strings.TrimRight(line(head, faint), " "))
		}
	}
	for i, r := range g.rows {
		text := line(r.cells, normal)
		notes := strings.Join(r.notes, "; ")
		room := p.width - lipgloss.Width(text) - gridGap
		if notes == "" || lipgloss.Width(notes) <= room {
			if notes != "" {
				text += strings.Repeat(" ", gridGap) + faint.paint(notes, p.colour)
			}
			p.line(strings.TrimRight(text, " "))
			continue
		}
		p.line(strings.TrimRight(text, " "))
		// Neighbours with the same remarks share them.
		if i+1 < len(g.rows) && slices.Equal(r.notes, g.rows[i+1].notes) {
			continue
		}
		first := i
		for first > 0 && slices.Equal(r.notes, g.rows[first-1].notes) {
			first--
		}
		for _, n := range r.notes {
			if first < i {
				n = g.rows[first].cells[0].text + " to " + r.cells[0].text + ": " + n
			}
			p.wrapped("      ↳ ", n, faint)
		}
	}
}

// heads are the lines of the head; short ones stand at its foot.
func (g *grid) heads(widths []int) [][]cell {
	most := 0
	all := make([][]string, len(g.head))
	for i := range g.head {
		all[i] = g.headLines(i, widths[i])
		most = max(most, len(all[i]))
	}
	lines := make([][]cell, most)
	for k := range lines {
		lines[k] = slices.Clone(g.head)
		for i := range g.head {
			lines[k][i].text = ""
			if from := most - len(all[i]); k >= from {
				lines[k][i].text = all[i][k-from]
			}
		}
	}
	return lines
}

func hasText(cells []cell) bool {
	for _, c := range cells {
		if c.text != "" {
			return true
		}
	}
	return false
}
