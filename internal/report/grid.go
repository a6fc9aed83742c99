package report

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// grid lays text out in columns for the terminal. Cells keep their content as
// it is; only the space between them is the grid's.
type grid struct {
	head []cell
	rows []gridRow
}

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
	for _, r := range append([]gridRow{{cells: g.head}}, g.rows...) {
		for i, c := range r.cells {
			w[i] = max(w[i], lipgloss.Width(c.text))
		}
	}
	return w
}

// total is the number of terminal columns the grid takes without its notes.
func (g *grid) total() int {
	n := gridIndent
	for i, w := range g.widths() {
		if i > 0 {
			n += gridGap
		}
		n += w
	}
	return n
}

// write appends the grid's lines.
func (g *grid) write(p *printer) {
	widths, total := g.widths(), g.total()
	line := func(cells []cell, always style) string {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", gridIndent))
		for i, c := range cells {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gridGap))
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
		p.line(strings.TrimRight(line(g.head, faint), " "))
	}
	room := p.width - total - gridGap
	for i, r := range g.rows {
		text := line(r.cells, normal)
		notes := strings.Join(r.notes, "; ")
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

func hasText(cells []cell) bool {
	for _, c := range cells {
		if c.text != "" {
			return true
		}
	}
	return false
}
