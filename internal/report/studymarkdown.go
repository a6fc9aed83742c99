package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sixnines/internal/study"
)

// StudyPicture is a chart of a study as a file of its own.
type StudyPicture struct {
	Name string // of the file: letters, digits, hyphens and ".svg"
	SVG  string
}

// StudyMarkdown writes a study as Markdown (GitHub's dialect), with the content of
// [StudyHTML], and returns the pictures that it refers to: files in the directory
// pictures, by a path from where the text is; empty: beside it.
func StudyMarkdown(w io.Writer, o *study.Outcome, pictures string) ([]StudyPicture, error) {
	d := newStudyDoc(o)
	m := &studyMarkdown{dir: strings.TrimSuffix(pictures, "/")}
	m.document(d)
	_, err := w.Write(m.Bytes())
	return m.pictures, err
}

// studyMarkdown is the text as it grows.
type studyMarkdown struct {
	bytes.Buffer
	dir      string
	pictures []StudyPicture
}

func (m *studyMarkdown) f(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = escapeMarkdown(text)
		}
	}
	fmt.Fprintf(&m.Buffer, format, args...)
}

// code writes a command, which stands for itself.
func (m *studyMarkdown) code(text string) {
	m.WriteString("\n```\n" + strings.ReplaceAll(text, "```", "'''") + "\n```\n")
}

func (m *studyMarkdown) document(d *studyDoc) {
	m.f("# %s\n", d.Title)
	for _, b := range d.Warnings {
		m.f("\n> **%s**: %s\n", b.Head, b.Text)
	}
	m.f("\n**%s**\n\n%s\n", d.Question, strings.Join(d.Facts, dot))
	if d.GoOn != "" {
		m.f("\nWhat is missing is made by:\n")
		m.code(d.GoOn)
	}
	if len(d.Conclusions) > 0 {
		m.f("\n## Conclusions\n\n%s. A conclusion is decided only where at least six rounds pass an exact test, or an exact interval lies wholly on one side.\n", d.Standing)
		whose := "the claim"
		if len(d.Original) > 0 {
			whose = "the author's claim"
		}
		m.f("\n| %s | here |\n|---|---|\n", whose)
		for _, c := range d.Conclusions {
			m.f("| %s | **%s** |\n", c.Claim, c.Verdict)
		}
	}
	if len(d.Original) > 0 {
		m.f("\n## What was published\n")
	} else {
		m.f("\n## What this is about\n")
	}
	for _, text := range d.Story {
		m.f("\n%s\n", text)
	}
	if len(d.Original) > 0 {
		m.f("\n| | |\n|---|---|\n")
		for _, l := range d.Original {
			m.f("| %s | %s |\n", l.Name, words(" ", l.Value, l.Means))
		}
	}
	m.f("\n%s\n", d.Reading)
	m.slips(d.Slips)
	for i := range d.Parts {
		m.part(&d.Parts[i])
	}
	m.table(&d.Cells)
	if len(d.Semantics.Rows) > 0 {
		m.table(&d.Semantics)
	}
	if len(d.Caveats) > 0 {
		m.f("\n## The author's caveats\n\n| caveat | does it hold here? |\n|---|---|\n")
		for _, c := range d.Caveats {
			m.f("| %s | %s |\n", c.Name, c.Value)
		}
	}
	if len(d.Skipped) > 0 {
		m.f("\n## What was not measured\n\n| system | why | how it can be |\n|---|---|---|\n")
		for _, s := range d.Skipped {
			m.f("| %s | %s | %s |\n", s.System, s.Why, s.How)
		}
	}
	m.f("\n## How to repeat it\n")
	if d.Command != "" {
		m.code(d.Command)
	}
	m.f("\n| fact | value | note |\n|---|---|---|\n")
	for _, r := range d.Machine.Rows {
		if !r.Group {
			m.f("| %s | %s | %s |\n", r.Name, r.Cells[0], r.Cells[1])
		}
	}
	m.f("\nWritten by %s. Runs are never merged; percentiles are never averaged.\n", d.Tool)
}

func (m *studyMarkdown) slips(all []string) {
	for _, text := range all {
		m.f("\n> **A slip of the original**: %s\n", text)
	}
}

func (m *studyMarkdown) part(p *studyPart) {
	m.f("\n## %s\n", p.Title)
	for _, text := range p.Text {
		m.f("\n%s\n", text)
	}
	m.slips(p.Slips)
	for _, x := range p.Pictures {
		m.f("\n**%s**\n", x.Title)
		if x.draw != nil {
			name := x.Key + ".svg"
			m.pictures = append(m.pictures, StudyPicture{name, x.draw(true) + "\n"})
			m.f("\n![%s](", x.Title)
			m.WriteString(words("/", m.dir, name) + ")\n")
		}
		m.f("\n%s\n", x.Caption)
	}
	for i := range p.Tables {
		m.table(&p.Tables[i])
	}
	if p.Words != nil {
		m.table(p.Words)
	}
	for _, c := range p.Conclusions {
		m.f("\n### %s: %s\n", strings.ToUpper(c.Verdict), c.Claim)
		m.slips(c.Slips)
		for _, t := range c.Tests {
			m.f("\n- **%s**: %s", t.Verdict, t.Text)
			if t.Needs != "" {
				m.f(" *It takes %s.*", t.Needs)
			}
			m.f("\n")
			if len(t.Files) > 0 {
				m.f("  It rests on %s: %s.\n", plural(len(t.Files), "result"), strings.Join(t.Files, ", "))
			}
		}
	}
}

// table writes a table.
func (m *studyMarkdown) table(t *studyTable) {
	if t.Alone {
		m.f("\n## %s\n", t.Title)
	} else {
		m.f("\n**%s**\n", t.Title)
	}
	if t.Caption != "" {
		m.f("\n%s\n", t.Caption)
	}
	if len(t.Rows) > 0 {
		var groups []string
		for _, g := range t.Groups {
			for range g.Span {
				groups = append(groups, g.Label)
			}
		}
		line, rule := "\n|", "|"
		for i, h := range t.Heads {
			if i > 0 && i <= len(groups) {
				h = groups[i-1] + ": " + h
			}
			line += " " + escapeMarkdown(h) + " |"
			if i > 0 && !t.Words {
				rule += "--:|"
			} else {
				rule += "---|"
			}
		}
		m.WriteString(line + "\n" + rule + "\n")
	}
	for _, r := range t.Rows {
		m.f("| %s |", r.Name)
		for _, c := range r.Cells {
			text := c.Text
			var beside []string
			if c.Interval != "" {
				beside = append(beside, c.Interval)
			}
			for _, x := range c.Theirs {
				beside = append(beside, "theirs "+x)
			}
			if c.Note != "" {
				beside = append(beside, c.Note)
			}
			if len(beside) > 0 {
				text += " (" + strings.Join(beside, "; ") + ")"
			}
			m.f(" %s |", text)
		}
		m.WriteString("\n")
	}
	for _, n := range t.Notes {
		m.f("\n%s\n", n)
	}
}
