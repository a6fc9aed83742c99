package report

import (
	"bytes"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// printer collects the lines of a terminal report.
type printer struct {
	buf    bytes.Buffer
	width  int
	colour bool
	ascii  bool
}

func newPrinter(opt Options) *printer {
	width := 100
	if opt.Width > 0 {
		width = max(opt.Width, 40)
	}
	return &printer{width: width, colour: opt.Color, ascii: opt.ASCII}
}

// write writes what was collected.
func (p *printer) write(w io.Writer) error {
	_, err := w.Write(p.buf.Bytes())
	return err
}

// line writes one line.
func (p *printer) line(text string) {
	p.buf.WriteString(p.encode(text))
	p.buf.WriteByte('\n')
}

// blank writes an empty line.
func (p *printer) blank() { p.buf.WriteByte('\n') }

// asciiForms are what the report's own characters become in ASCII. The pairs
// have the same width, so that columns stay aligned.
var asciiForms = strings.NewReplacer(
	"µ", "u", "–", "-", "×", "x", "·", "|", "↳", "\\", "²", "2", "−", "-", "÷", "/", "…", ".", "→", ">",
	"≥ ", ">=", "≥", ">",
)

// encode returns the text in the character set of the terminal.
func (p *printer) encode(text string) string {
	if !p.ascii {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, asciiForms.Replace(text))
}

// screenLines is how many lines of 80 columns a run or a comparison takes on a
// terminal unless all of it is asked for.
const screenLines = 30

// fit writes a document that fits a number of lines: the one of the largest amount, from most
// down to least, that does, or that of the least.
func (p *printer) fit(lines, most, least int, of func(most int) document) {
	for ; ; most-- {
		q := &printer{width: p.width, colour: p.colour, ascii: p.ascii}
		q.document(of(most))
		if most <= least || bytes.Count(q.buf.Bytes(), []byte("\n")) <= lines {
			p.buf.Write(q.buf.Bytes())
			return
		}
	}
}

// wrapped writes text after a lead, broken at spaces to the width; following
// lines are indented as far as the lead.
func (p *printer) wrapped(lead, text string, s style) {
	indent := strings.Repeat(" ", lipgloss.Width(lead))
	room := max(p.width-lipgloss.Width(lead), 20)
	lines := []string{text} // as it is, spaces included, if it fits
	if lipgloss.Width(text) > room {
		lines = wrap(text, room)
	}
	for i, l := range lines {
		if i > 0 {
			lead = indent
		}
		p.line(lead + s.paint(l, p.colour))
	}
}

// wrap breaks text at spaces into lines of at most the given width; a longer
// word stands alone.
func wrap(text string, width int) []string {
	var lines []string
	var line string
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case lipgloss.Width(line)+1+lipgloss.Width(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// joined writes parts with a separator between them, broken between parts, and within one that is longer than a line.
func (p *printer) joined(lead string, parts []string, separator string, s style) {
	indent := strings.Repeat(" ", lipgloss.Width(lead))
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case lipgloss.Width(lead)+lipgloss.Width(line)+lipgloss.Width(separator)+lipgloss.Width(part) <= p.width:
			line += separator + part
		default:
			p.wrapped(lead, line, s)
			lead, line = indent, part
		}
	}
	if line != "" {
		p.wrapped(lead, line, s)
	}
}
