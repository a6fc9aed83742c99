package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"sixnines/result"
)

// Markdown writes a summary for a pull request or a README (GitHub's dialect):
// verdict and reasons, the percentiles, the accounts. Several runs stand side
// by side in the tables.
func Markdown(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i, s := range prepared {
		if i > 0 {
			b.WriteByte('\n')
		}
		markdownVerdict(&b, s)
	}
	for _, sentence := range omission(prepared) {
		fmt.Fprintf(&b, "\n> %s\n", escapeMarkdown(sentence))
	}
	if len(prepared) == 1 {
		markdownSection(&b, objectivesSection(prepared[0]), "")
	} else {
		markdownSection(&b, objectivesOfAll(prepared), "")
	}
	for _, f := range tabled() {
		if !f.Apart {
			markdownFamily(&b, prepared, f)
		}
	}
	for _, text := range floorTexts(prepared) {
		fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(text))
	}
	for _, x := range repeatSections(prepared, every) {
		markdownSection(&b, x, "")
	}
	for _, s := range prepared {
		for _, x := range findings(s) {
			if !x.Page {
				markdownSection(&b, x, s.of())
			}
		}
		if line := peopleLine(s); line != "" && len(prepared) == 1 {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(sentence(line)))
		}
	}
	markdownAccounts(&b, prepared)
	_, err = w.Write(b.Bytes())
	return err
}

// escapeMarkdown makes text from a result file mean itself in Markdown and in
// the HTML that it may hold.
var escapeMarkdown = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "|", "\\|", "#", "\\#", "!", "\\!", "~~", "\\~\\~",
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
).Replace

func markdownVerdict(b *bytes.Buffer, s *subject) {
	fmt.Fprintf(b, "### %s: %s\n\n", escapeMarkdown(s.label), escapeMarkdown(s.status()))
	facts := headline(s)
	for i := range facts {
		facts[i] = escapeMarkdown(facts[i])
	}
	b.WriteString(strings.Join(facts, dot) + "\n")
	list := false
	item := func(format string, args ...any) {
		if !list {
			b.WriteByte('\n')
			list = true
		}
		fmt.Fprintf(b, "- "+format+"\n", args...)
	}
	for _, l := range s.limits() {
		item("**%s**", escapeMarkdown(l))
	}
	for _, n := range s.banners {
		item("**%s**: %s", escapeMarkdown(n.Head), escapeMarkdown(n.Text))
	}
	for _, r := range s.reasons() {
		item("%s: %s", escapeMarkdown(reasonWord(r.Status)), escapeMarkdown(reasonText(r)))
	}
}

// markdownFamily writes the percentiles of a family, if a run has them.
func markdownFamily(b *bytes.Buffer, prepared []*subject, f family) {
	type part struct {
		s *subject
		c *column
	}
	var parts []part
	for _, k := range f.Columns {
		for _, s := range prepared {
			if c := s.column(k.Metric); c != nil {
				parts = append(parts, part{s, c})
			}
		}
	}
	if len(parts) == 0 {
		return
	}
	alone := len(prepared) == 1
	head, rule := "| "+f.Name+" |", "|---|"
	for i, p := range parts {
		name := p.c.Head
		if !alone {
			name = p.s.letter + " " + name
		}
		head, rule = head+" "+name+" |", rule+"--:|"
		if p.c.hasOwn() {
			head, rule = head+" own lag |", rule+"--:|"
		}
		if alone && i == 0 {
			head, rule = head+" 95 % interval |", rule+":-:|"
		}
	}
	fmt.Fprintf(b, "\n%s |\n%s---|\n", head, rule)
	for i, row := range rows() {
		line := "| " + rowName(row) + " |"
		var notes []string
		for j, p := range parts {
			fig := p.c.Figures[i]
			line += " " + escapeMarkdown(fig.text()) + " |"
			if p.c.hasOwn() {
				line += " " + fig.own() + " |"
			}
			if alone && j == 0 {
				line += " " + fig.interval() + " |"
			}
			for _, n := range fig.notes() {
				switch {
				case !alone:
					n = p.s.letter + " " + p.c.Head + ": " + n
				case j > 0 && !slices.Contains(notes, escapeMarkdown(n)):
					n = p.c.Head + ": " + n
				}
				if n = escapeMarkdown(n); !slices.Contains(notes, n) {
					notes = append(notes, n)
				}
			}
		}
		fmt.Fprintf(b, "%s %s |\n", line, strings.Join(notes, "; "))
	}
	for _, s := range prepared {
		for _, n := range f.notes(s) {
			fmt.Fprintf(b, "\n%s\n", escapeMarkdown(n))
		}
	}
}

// markdownAccounts writes the rates and the counters that are not zero.
func markdownAccounts(b *bytes.Buffer, prepared []*subject) {
	head, rule := "| |", "|---|"
	for _, s := range prepared {
		head, rule = head+" "+escapeMarkdown(s.label)+" |", rule+"--:|"
	}
	fmt.Fprintf(b, "\n%s\n%s\n", head, rule)
	line := func(name string, value func(*subject) string) {
		text, any := "| "+name+" |", false
		for _, s := range prepared {
			v := value(s)
			any = any || v != ""
			text += " " + v + " |"
		}
		if any {
			b.WriteString(text + "\n")
		}
	}
	line("asked", func(s *subject) string {
		if s.sum.Rate.Asked == 0 {
			return ""
		}
		return rate(s.sum.Rate.Asked)
	})
	line("sent", func(s *subject) string { return rate(s.sum.Rate.Sent) })
	line("worst second", func(s *subject) string {
		if s.sum.Rate.Asked == 0 {
			return ""
		}
		return exactShare(s.sum.Rate.WorstSecond) + " of due"
	})
	line("availability", func(s *subject) string {
		for _, l := range availabilityLine(s.sum.Availability) {
			return l.Value
		}
		return ""
	})
	line("throughput", func(s *subject) string {
		if s.sum.Throughput == nil {
			return ""
		}
		return rate(s.sum.Throughput.PerSecond)
	})
	byDesign := !slices.ContainsFunc(prepared, func(s *subject) bool { return !neverAcknowledges(&s.run.Header) })
	all := func(c *result.Counters) []entry {
		return slices.Concat(publishSide(c, byDesign), deliverySide(c), otherCounters(c))
	}
	for i, e := range all(&result.Counters{}) {
		always := e.Name == "scheduled" || e.Name == "received" || e.Name == "missing" || e.Name == "lost acked"
		line(e.Name, func(s *subject) string {
			v := all(&s.sum.Counters)[i].Value
			if v == 0 && !(always && s.sum.Counters.Expected > 0) {
				return ""
			}
			return count(v)
		})
	}
}
