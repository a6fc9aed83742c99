package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"sixnines/result"
)

// markdown collects Markdown (GitHub's dialect).
type markdown struct {
	pen
	dir      string         // directory of the charts, relative to the text
	pictures []StudyPicture // the charts that the text refers to
}

func newMarkdown() *markdown { return &markdown{pen: pen{escape: escapeMarkdown}} }

// escapeMarkdown escapes text from a result file for Markdown and for the HTML that
// Markdown may contain.
var escapeMarkdown = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "|", "\\|", "#", "\\#", "!", "\\!", "~~", "\\~\\~",
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
).Replace

// write writes what was collected.
func (m *markdown) write(w io.Writer) error {
	_, err := io.WriteString(w, strings.TrimPrefix(m.String(), "\n"))
	return err
}

// document writes the blocks that Markdown has.
func (m *markdown) document(d document) {
	for _, b := range d {
		if w, ok := b.(written); ok {
			w.markdown(m)
		}
	}
}

func (x part) markdown(m *markdown) {
	if x.Title != "" && !x.Page {
		m.f("\n## %s\n", x.Title)
	}
	m.document(x.Blocks)
}

func (x finding) markdown(m *markdown) {
	m.f("\n### %s\n", joinNonEmpty(": ", x.Status, x.Label))
	if x.Text != "" {
		m.f("\n%s\n", x.Text)
	}
	m.document(x.Blocks)
}

func (x folded) markdown(m *markdown) {
	m.f("\n<details><summary>%s</summary>\n", x.Title)
	m.document(x.Blocks)
	m.f("\n</details>\n")
}

func (x text) markdown(m *markdown) {
	switch {
	case x.Quoted:
		m.f("\n> ")
	case x.Item:
		m.f("\n- ")
	default:
		m.f("\n")
	}
	if x.Lead != "" {
		m.f("**%s**", x.Lead)
	}
	if x.Lead != "" && x.Text != "" {
		m.f(": ")
	}
	mark := markup("")
	if x.Bold {
		mark = "**"
	}
	m.f("%s%s%s", mark, x.Text, mark)
	if x.Tail != "" {
		m.f(" *%s*", x.Tail)
	}
	m.f("\n")
}

func (x code) markdown(m *markdown) {
	m.f("\n```\n%s\n```\n", markup(strings.ReplaceAll(string(x), "```", "'''")))
}

func (x facts) markdown(m *markdown) {
	if x.Lead != "" {
		m.f("\n- **%s**: %s\n", x.Lead, strings.Join(x.List, cmp.Or(x.Separator, dot)))
		return
	}
	m.f("\n%s\n", strings.Join(x.List, dot))
}

func (x points) markdown(m *markdown) {
	m.f("\n")
	for _, r := range x {
		m.f("- **%s**: %s\n", r.Word, r.Text)
	}
}

func (x notice) markdown(m *markdown) {
	m.f("\n> **%s**", x.Head)
	if x.Text != "" {
		m.f(": %s", x.Text)
	}
	m.f("\n")
}

func (x gallery) markdown(m *markdown) {
	for _, c := range x {
		m.f("\n**%s**\n", c.Title)
		if c.Draw != nil {
			name := c.Key + ".svg"
			m.pictures = append(m.pictures, StudyPicture{name, c.Draw(true) + "\n"})
			m.f("\n![%s](%s)\n", c.Title, markup(joinNonEmpty("/", m.dir, name)))
		}
		m.f("\n%s\n", c.Caption)
	}
}

func (x *table) markdown(m *markdown) {
	x = x.gathered()
	if x.Name != "" {
		m.f("\n**%s**\n", joinNonEmpty(": ", x.Of, x.Name))
	}
	if x.About != "" {
		m.f("\n%s\n", x.About)
	}
	remarks := x.HasNotes()
	if len(x.Rows) > 0 {
		var over []string // the head over each column
		for _, g := range x.Groups {
			over = append(over, slices.Repeat([]string{g.Label}, g.Span)...)
		}
		rule := "\n|"
		m.f("\n|")
		for i, h := range x.Head {
			name := h.Text
			if i > 0 && i <= len(over) && over[i-1] != "" {
				name = over[i-1] + ": " + name
			}
			if name != "" {
				m.f(" %s", name)
			}
			m.f(" |")
			switch {
			case h.Centre:
				rule += ":-:|"
			case h.Right:
				rule += "--:|"
			default:
				rule += "---|"
			}
		}
		if remarks {
			m.f(" |")
			rule += "---|"
		}
		m.f("%s\n", markup(rule))
	}
	shown, left := x.shortened()
	for _, r := range shown.Rows {
		if r.Class == "group" {
			continue
		}
		m.f("|")
		for _, c := range r.Cells {
			m.f(" ")
			c.markdown(m)
			m.f(" |")
		}
		if remarks {
			m.f(" %s |", strings.Join(r.Notes, "; "))
		}
		m.f("\n")
	}
	if left > 0 {
		m.f("\nAnd %s more%s.\n", count(int64(left)), x.Rest)
	}
	if x.Explain {
		m.f("\n%s\n", x.Caption)
	}
	for _, a := range x.After {
		m.f("\n%s\n", a)
	}
}

func (c cell) markdown(m *markdown) {
	mark := markup("")
	if c.Bold && c.Text != "" {
		mark = "**"
	}
	m.f("%s%s%s", mark, strings.TrimSpace(c.Text), mark)
	var beside []string
	for _, n := range c.Notes {
		beside = append(beside, n.Text)
	}
	if len(beside) > 0 {
		m.f(" (%s)", strings.Join(beside, "; "))
	}
}

// writeMarkdown writes a summary for a pull request or a README (GitHub's dialect):
// verdict and reasons, the percentiles, the accounts. Several runs stand side
// by side in the tables.
func writeMarkdown(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	m := newMarkdown()
	m.document(runsDocument(prepared, nil, Options{}, inMarkdown))
	return m.write(w)
}
