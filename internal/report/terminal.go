package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sixnines/result"
)

// Terminal writes results for people: what fits a screen, with the verdict first,
// and after it the parts of opt.Show; with opt.Full everything. Several results
// stand side by side, workloads of one run below each other. Lines keep to
// opt.Width where words allow it.
func Terminal(w io.Writer, runs []*result.Run, opt Options) error {
	subjects, err := subjects(runs)
	if err != nil {
		return err
	}
	if opt.Width == 0 && !opt.Full {
		opt.Width = 80
	}
	p := newPrinter(opt)
	switch {
	case opt.Full:
		p.document(runsDocument(subjects, nil, opt, inTerminal))
	case len(subjects) > 1 && !ofOneRun(subjects):
		p.document(comparison(subjects))
	default:
		for i, s := range subjects {
			var foot document
			if i > 0 {
				p.blank()
			}
			if i == len(subjects)-1 {
				foot = footer(s, opt)
			}
			screen(p, s, foot)
		}
	}
	if !opt.Full {
		for _, part := range Parts() {
			for _, s := range subjects {
				if slices.Contains(opt.Show, part.Name) {
					p.document(part.of(s))
				}
			}
		}
	}
	return p.write(w)
}

// ofOneRun reports whether subjects are the workloads of one run.
func ofOneRun(subjects []*subject) bool {
	return !slices.ContainsFunc(subjects, func(s *subject) bool {
		h := &s.run.Header
		return h.Workload == "" || h.ID != subjects[0].run.Header.ID
	})
}

// dot separates facts that stand in one line.
const dot = " · "

// document writes the blocks that a terminal has.
func (p *printer) document(d document) {
	for _, b := range d {
		if x, ok := b.(shown); ok {
			x.terminal(p)
		}
	}
}

// heading writes a section's title; of is the run it is about, empty when that
// is clear.
func (p *printer) heading(text, of string) {
	p.blank()
	text = strings.ToUpper(text)
	if of != "" {
		text += "  " + of
	}
	p.line(strong.paint(text, p.colour))
}

func (x part) terminal(p *printer) {
	if x.Title != "" && !x.Page {
		p.heading(x.Title, x.Of)
	}
	p.document(x.Blocks)
}

func (x folded) terminal(p *printer) {
	p.heading(x.Title, x.Of)
	p.document(x.Blocks)
}

func (x finding) terminal(p *printer) {
	if p.buf.Len() > 0 {
		p.blank()
	}
	p.wrapped(x.Style.paint(x.Status, p.colour)+"  ", joinNonEmpty(": ", x.Label, x.Text), strong)
	p.document(x.Blocks)
}

func (x text) terminal(p *printer) {
	p.wrapped(x.Margin, joinNonEmpty(" ", joinNonEmpty(": ", x.Lead, x.Text), x.Tail), x.Style)
}

func (x facts) terminal(p *printer) {
	separator, margin := cmp.Or(x.Separator, dot), x.Margin
	if x.Lead != "" {
		margin += x.Lead + "  "
	}
	p.joined(margin, x.List, separator, x.Style)
}

func (x points) terminal(p *printer) {
	room := 0
	for _, r := range x {
		if r.Word != "" {
			room = max(room, 10, lipgloss.Width(r.Word)+2)
		}
	}
	for _, r := range x {
		p.wrapped("  "+r.WordStyle.paint(r.Word, p.colour)+strings.Repeat(" ", room-lipgloss.Width(r.Word)), r.Text, r.Style)
	}
}

func (x notice) terminal(p *printer) {
	mark, s := "  ! ", strong
	if x.Loud {
		mark, s = "  !!! ", alarm
	}
	p.wrapped(mark, x.Head, s)
	if x.Text != "" {
		p.wrapped("      ", x.Text, normal)
	}
}

func (gap) terminal(p *printer) { p.blank() }

func (x clipped) terminal(p *printer) {
	room := p.width - lipgloss.Width(x.Mark+x.More)
	p.line(x.MarkStyle.paint(x.Mark, p.colour) + x.Style.paint(shorten(x.Text, max(room, 20)), p.colour) + x.More)
}

// A command is broken before its last word, where that finds no room, and nowhere else.
func (x command) terminal(p *printer) {
	line := string(x)
	if lipgloss.Width(line) > p.width {
		if at := strings.LastIndexByte(line, ' '); at > 0 {
			p.line(strings.TrimRight(line[:at], " "))
			line = "    " + line[at+1:]
			if lipgloss.Width(line) > p.width {
				line = line[4:]
			}
		}
	}
	p.line(line)
}

// shorten cuts text to a width, with an ellipsis.
func shorten(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && lipgloss.Width(string(r)) > width-1 {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}
