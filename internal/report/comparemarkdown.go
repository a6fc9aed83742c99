package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sixnines/internal/compare"
)

// CompareMarkdown writes a comparison for a pull request (GitHub's dialect):
// the outcome, the judged figures and what is unlike in sight, the rest folded.
func CompareMarkdown(w io.Writer, c *compare.Comparison) error {
	var b bytes.Buffer
	text := func(s string) string { return escapeMarkdown(plain(s)) }
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", text(compareTitle(c)), text(c.Text))
	for _, s := range []struct {
		name string
		set  compare.Set
	}{{"A", c.A}, {"B", c.B}} {
		fmt.Fprintf(&b, "- **%s**: %s\n", s.name, text(strings.Join(compareSide(s.set), dot)))
	}
	fmt.Fprintf(&b, "- %s\n", text(compareHow(c)))
	if len(c.Changes) > 0 {
		fmt.Fprintf(&b, "- **B changes** %s\n", text(strings.Join(changesText(c), ", ")))
	}
	if c.Guarantees != "" && !strings.Contains(c.Text, c.Guarantees) {
		fmt.Fprintf(&b, "- **%s**\n", text(c.Guarantees))
	}
	if c.Forced {
		b.WriteString("- **Ranked in spite of decisive differences, because --rank-unlike asked for it.**\n")
	}
	if replaced := replacedTexts(c); len(replaced) > 0 {
		fmt.Fprintf(&b, "- **replaced**: %s\n", text(replaced[0]))
	}
	for _, r := range besidesRows(c) {
		fmt.Fprintf(&b, "- **regression**: %s\n", text(r))
	}
	differencesMarkdown(&b, c)
	if c.Throughput != nil {
		b.WriteString("\n**Throughput**\n")
		rowsMarkdown(&b, []compare.Row{*c.Throughput}, c)
	}
	var folded []compare.Metric
	for _, m := range c.Metrics {
		if !m.Judged {
			folded = append(folded, m)
			continue
		}
		metricMarkdown(&b, m, c)
	}
	accountsMarkdown(&b, c)
	if len(c.Replaced)+len(c.Left)+len(c.SuspectReasons) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s replaced, %s left out, %s</summary>\n\n", plural(int64(len(c.Replaced)), "pair"), plural(int64(len(c.Left)), "run"), plural(int64(len(c.SuspectReasons)), "suspect reason"))
		if len(c.Replaced) > 0 {
			for _, r := range replacedTexts(c)[1:] {
				fmt.Fprintf(&b, "- replaced: %s\n", text(r))
			}
		}
		for _, l := range c.Left {
			fmt.Fprintf(&b, "- left out: %s %s: %s\n", l.Side, text(l.Run), text(l.Why))
		}
		for _, d := range c.SuspectReasons {
			fmt.Fprintf(&b, "- SUSPECT %s %s\n", d.Side, text(suspectText(d, setNamed(c, d.Side))))
		}
		b.WriteString("\n</details>\n")
	}
	if len(c.Follows) > 0 {
		b.WriteString("\n<details><summary>what comes with the changes</summary>\n\n| | A | B |\n|---|---|---|\n")
		for _, d := range c.Follows {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", text(d.What), text(d.A), text(d.B))
		}
		b.WriteString("\n</details>\n")
	}
	if len(folded) > 0 {
		b.WriteString("\n<details><summary>other latencies</summary>\n")
		for _, m := range folded {
			metricMarkdown(&b, m, c)
		}
		b.WriteString("\n</details>\n")
	}
	if c.Stated() {
		fmt.Fprintf(&b, "\n<sub>%s</sub>\n", text(strings.Join(compareLegend(c), " ")))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func differencesMarkdown(b *bytes.Buffer, c *compare.Comparison) {
	text := func(s string) string { return escapeMarkdown(plain(s)) }
	if len(c.Differences) == 0 {
		fmt.Fprintf(b, "- %s\n", noDifferences(c))
		return
	}
	b.WriteString("\n| difference | A | B | weight | |\n|---|---|---|---|---|\n")
	for _, d := range c.Differences {
		weight := string(d.Weight)
		if d.Weight == compare.Decisive {
			weight = "**" + weight + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", text(d.What), text(d.A), text(d.B), weight, text(d.Why))
	}
}

func metricMarkdown(b *bytes.Buffer, m compare.Metric, c *compare.Comparison) {
	fmt.Fprintf(b, "\n**%s**", escapeMarkdown(metricName(m.Metric)))
	if c.Stated() {
		b.WriteString(", " + escapeMarkdown(compareAbout(m, c)))
	}
	b.WriteByte('\n')
	rowsMarkdown(b, m.Rows, c)
}

func rowsMarkdown(b *bytes.Buffer, rows []compare.Row, c *compare.Comparison) {
	stated := false
	for _, r := range rows {
		stated = stated || r.Shift != nil || r.Outcome != ""
	}
	side := func(r compare.Row, f compare.Figures) string {
		text := compareMedian(r, f)
		if f.Runs > 1 {
			text += " (" + compareRange(r, f) + ", " + between(f) + ")"
		}
		return escapeMarkdown(text)
	}
	b.WriteString("\n| | A: median (range, spread) | B |")
	rule := "\n|---|--:|--:|"
	if stated {
		b.WriteString(" change | 95 % interval | |")
		rule += "--:|:-:|---|"
	}
	b.WriteString(" |" + rule + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s |", compareRowName(r), side(r, r.A), side(r, r.B))
		if stated {
			by := compareChange(r)
			if r.Shift != nil {
				by += " (" + compareBy(r) + ")"
			}
			word := outcomeWord(r.Outcome, c.MinEffect)
			if r.Outcome == compare.Slower || r.Outcome == compare.Faster {
				word = "**" + word + "**"
			}
			fmt.Fprintf(b, " %s | %s | %s |", by, compareInterval(r), word)
		}
		fmt.Fprintf(b, " %s |\n", escapeMarkdown(strings.Join(r.Notes, "; ")))
	}
}

func accountsMarkdown(b *bytes.Buffer, c *compare.Comparison) {
	if len(c.Accounts) == 0 {
		return
	}
	b.WriteString("\n| messages | A | B |\n|---|--:|--:|\n")
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		fmt.Fprintf(b, "| %s | %s | %s |\n", escapeMarkdown(a.Name), left, right)
	}
}
