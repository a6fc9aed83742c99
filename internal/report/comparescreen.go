package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sixnines/internal/compare"
)

// screenLines is how many lines of 80 columns a run or a comparison takes on a
// terminal unless all of it is asked for.
const screenLines = 30

// compareScreen writes what fits a screen: what the comparison comes to, what was
// changed and what is unlike besides, the judged figures, what was lost, and where the
// rest is. A list that is too long ends with how many more there are.
func compareScreen(p *printer, c *compare.Comparison, page, details string) {
	head := p.collect(func(p *printer) {
		compareLead(p, c)
		if a, b := c.A, c.B; c.Kind != compare.KindSets && a.Label == b.Label && a.Runs == b.Runs {
			a.Runs, a.Used, a.To = a.Runs+b.Runs, a.Used+b.Used, later(a.To, b.To)
			if b.From.Before(a.From) {
				a.From = b.From
			}
			p.joined("  ", append(compareSide(a), compareHow(c)), dot, normal)
		} else {
			p.joined("  A  ", compareSide(c.A), dot, normal)
			p.joined("  B  ", compareSide(c.B), dot, normal)
			p.wrapped("  ", compareHow(c), normal)
		}
	})
	foot := p.collect(func(p *printer) {
		for _, t := range judgedTables(c) {
			p.heading(t.name, "")
			compareShort(p, t.rows, c)
		}
	})
	after := p.collect(func(p *printer) {
		p.blank()
		for _, side := range []string{"A", "B"} {
			p.joined("  "+side+"  ", accountWords(c, side), dot, normal)
		}
		if c.Stated() {
			p.wrapped("  ", "A and B: the median of the runs; the intervals hold for all rows at once."+outcomeLegend(c), faint)
		}
		if page != "" {
			p.command("  page     " + plain(page))
		}
		p.command("  details  " + cmp.Or(plain(details), "the same command with --full"))
	})
	lists := compareLists(p, c)
	room := screenLines - len(head) - len(foot) - len(after) - 1
	for i := range lists {
		room -= min(len(lists[i].lines), 1)
	}
	for i := range lists {
		l := &lists[i]
		l.shown = min(len(l.lines), 1)
		if more := min(room, len(l.lines)-l.shown); more > 0 {
			l.shown += more
			room -= more
		}
	}
	write := func(lines []string) {
		for _, l := range lines {
			p.buf.WriteString(l + "\n")
		}
	}
	write(head)
	for _, l := range lists {
		if !l.below {
			l.write(p)
		}
	}
	write(foot)
	for _, l := range lists {
		if l.below {
			l.write(p)
		}
	}
	write(after)
}

// compareLead writes what the comparison comes to and what was changed.
func compareLead(p *printer, c *compare.Comparison) {
	lead := compareTitle(c) + "  "
	p.wrapped(outcomeStyle(c.Outcome).paint(lead, p.colour), plain(c.Text), strong)
	if c.Guarantees != "" && !strings.Contains(c.Text, c.Guarantees) {
		p.wrapped("  ! ", plain(c.Guarantees), alarm)
	}
	if c.Forced {
		p.wrapped("  ! ", "Ranked in spite of decisive differences, because --rank-unlike asked for it.", alarm)
	}
	if len(c.Changes) > 0 {
		p.joined("  B changes  ", changesText(c), ", ", strong)
	}
}

// changesText is what an ab changes, a change each.
func changesText(c *compare.Comparison) []string {
	var out []string
	for _, x := range c.Changes {
		out = append(out, plain(x.String()))
	}
	return out
}

// judgedTable is a table of which there are outcomes, or would be.
type judgedTable struct {
	name string
	rows []compare.Row
}

func judgedTables(c *compare.Comparison) []judgedTable {
	var out []judgedTable
	if c.Throughput != nil {
		out = append(out, judgedTable{"Throughput", []compare.Row{*c.Throughput}})
	}
	for i, m := range c.Metrics {
		if m.Judged || c.Background && i == 0 {
			out = append(out, judgedTable{metricName(m.Metric), m.Rows})
		}
	}
	return out
}

// outcomeLegend explains the outcomes; empty: there are none.
func outcomeLegend(c *compare.Comparison) string {
	if c.Refused != "" {
		return ""
	}
	return fmt.Sprintf(" SLOWER and FASTER: the whole interval is beyond ±%s.", percentage(c.MinEffect))
}

// accountWords are the messages of a side.
func accountWords(c *compare.Comparison, side string) []string {
	var out []string
	for _, a := range c.Accounts {
		v := a.A
		if side == "B" {
			v = a.B
		}
		switch {
		case a.Unit != "messages":
		case a.Name == "due":
			out = append(out, count(int64(v))+" due")
		case v > 0:
			out = append(out, count(int64(v))+" "+a.Name)
		case a.Name == "lost":
			out = append(out, "none lost")
		}
	}
	return out
}

// compareList is a list of a screen, of which as much is shown as there is room for.
type compareList struct {
	lead  string
	lines []string // each is shown in one line
	style style
	below bool // the figures, which it is about
	shown int
}

// write writes what is shown of the list.
func (l *compareList) write(p *printer) {
	if l.shown == 0 {
		return
	}
	for i, text := range l.lines[:l.shown] {
		lead, more := l.lead, ""
		if i > 0 {
			lead = strings.Repeat(" ", lipgloss.Width(lead))
		}
		if left := len(l.lines) - l.shown; left > 0 && i == l.shown-1 {
			more = fmt.Sprintf(" (and %d more)", left)
		}
		p.line(lead + l.style.paint(shorten(text, p.width-lipgloss.Width(lead+more))+more, p.colour))
	}
}

// compareLists are the lists of a comparison, those that matter most first.
func compareLists(p *printer, c *compare.Comparison) []compareList {
	regressions := compareList{lead: "  regression  ", style: bad}
	for _, r := range besidesRows(c) {
		regressions.lines = append(regressions.lines, plain(r))
	}
	unlike := compareList{lead: "  difference  ", style: warning}
	for _, d := range c.Differences {
		unlike.lines = append(unlike.lines, plain(d.What)+": A "+plain(d.A)+", B "+plain(d.B))
	}
	replaced := compareList{lead: "  replaced    ", lines: replacedTexts(c)}
	left := compareList{lead: "  left out    "}
	for _, l := range c.Left {
		if !l.Partner {
			left.lines = append(left.lines, l.Side+" "+plain(filepath.Base(l.Run))+": "+plain(l.Why))
		}
	}
	suspect := compareList{lead: "  suspect     ", style: warning}
	for _, d := range c.SuspectReasons {
		suspect.lines = append(suspect.lines, d.Side+" "+suspectText(d, setNamed(c, d.Side)))
	}
	remarks := compareList{lead: "  ↳ ", style: faint, below: true}
	for _, t := range judgedTables(c) {
		remarks.lines = append(remarks.lines, remarksOf(t.rows)...)
	}
	follows := compareList{lead: "  with it     "}
	for _, d := range c.Follows {
		if strings.Contains(c.Guarantees, plain(d.What)) {
			continue // said
		}
		follows.lines = append(follows.lines, plain(d.What)+": A "+plain(d.A)+", B "+plain(d.B))
	}
	return []compareList{regressions, unlike, replaced, left, suspect, remarks, follows}
}

// remarksOf are the remarks on rows, each once, with the rows that have it.
func remarksOf(rows []compare.Row) []string {
	var notes []string
	having := map[string][]string{}
	for _, r := range rows {
		for _, n := range r.Notes {
			if having[n] == nil {
				notes = append(notes, n)
			}
			having[n] = append(having[n], compareRowName(r))
		}
	}
	for i, n := range notes {
		notes[i] = strings.Join(having[n], ", ") + ": " + plain(n)
	}
	return notes
}

// compareShort writes figures and statements without remarks. Columns give way where
// there is no room for them; without a statement the range of the runs stands beside
// their median.
func compareShort(p *printer, rows []compare.Row, c *compare.Comparison) {
	stated := slices.ContainsFunc(rows, func(r compare.Row) bool { return r.Shift != nil })
	verdicts := slices.ContainsFunc(rows, func(r compare.Row) bool { return r.Outcome != "" })
	for narrow := range 4 {
		g := &grid{head: []cell{{}, {text: "A", right: true}, {text: "B", right: true}}}
		if narrow > 1 {
			g.gap = 2
		}
		head := func(c ...cell) { g.head = append(g.head, c...) }
		ranges := !stated && narrow < 3 && len(c.Pairs) > 1
		if ranges {
			g.head = []cell{{}, {text: "A", right: true}, {text: "runs", right: true}, {text: "B", right: true}, {text: "runs", right: true}}
		}
		if stated && narrow < 2 {
			head(cell{text: "change", right: true})
		}
		if stated && narrow < 1 {
			head(cell{text: "by", right: true})
		}
		if stated {
			head(cell{text: "95 % interval"})
		}
		if verdicts {
			head(cell{})
		}
		for _, r := range rows {
			row := []cell{{text: compareRowName(r), style: strong}}
			for _, f := range []compare.Figures{r.A, r.B} {
				row = append(row, cell{text: compareMedian(r, f), right: true})
				if ranges {
					row = append(row, cell{text: compareRange(r, f), style: faint, right: true})
				}
			}
			if stated && narrow < 2 {
				row = append(row, cell{text: compareChange(r), right: true})
			}
			if stated && narrow < 1 {
				row = append(row, cell{text: compareBy(r), right: true})
			}
			if stated {
				text := compareInterval(r)
				if narrow > 2 {
					text = strings.Replace(text, " % to ", " to ", 1)
				}
				row = append(row, cell{text: text, style: faint})
			}
			if verdicts {
				row = append(row, cell{text: outcomeWord(r.Outcome, c.MinEffect), style: outcomeStyle(r.Outcome)})
			}
			g.rows = append(g.rows, gridRow{cells: row})
		}
		if narrow == 3 || g.total() <= p.width {
			g.write(p)
			return
		}
	}
}
