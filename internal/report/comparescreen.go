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

// compareScreen writes a comparison that fits a screen: the outcome, what was changed, other
// differences, the judged figures, lost messages, and where to find the rest. A list that is
// too long ends with the number of entries left out.
func compareScreen(p *printer, c *compare.Comparison, page, details string) {
	lists, judged := compareLists(c), judgedTables(c)
	// One line stays free. Each list gets a line, and the most important lists get the
	// other lines.
	p.fit(screenLines-1, screenLines, 0, func(more int) document {
		for i := range lists {
			l := &lists[i]
			l.shown = min(len(l.lines), 1+more)
			more -= max(l.shown-1, 0)
		}
		out := document{compareOutcome(c)}
		if a, b := c.A, c.B; c.Kind != compare.KindSets && a.Label == b.Label && a.Runs == b.Runs {
			a.Runs, a.Used, a.To = a.Runs+b.Runs, a.Used+b.Used, later(a.To, b.To)
			if b.From.Before(a.From) {
				a.From = b.From
			}
			out.list("  ", append(compareSide(a), compareHow(c)), normal)
		} else {
			out.add(compareSides(c)...)
		}
		out.add(shownLists(lists, false)...)
		for _, t := range judged {
			x := compareShort(t.all, c, p.width)
			x.Name, x.Fixed = t.Name, true
			out.add(x)
		}
		out.add(shownLists(lists, true)...)
		out.add(gap{})
		out.list("  A beside A  ", controlWords(c), normal)
		out.list("  would decide  ", decidingWords(c), normal)
		for _, side := range []string{"A", "B"} {
			out.list("  "+side+"  ", accountWords(c, side), normal)
		}
		if c.Stated() {
			out.say("  ", columnsText(c)+"; the intervals hold for all rows at once."+outcomeLegend(c), faint)
		}
		if page != "" {
			out.add(command("  page     " + plain(page)))
		}
		out.add(command("  details  " + cmp.Or(plain(details), "the same command with --full")))
		return out
	})
}

// columnsText explains the figure that represents a set in a table with changes; in a table
// without changes it is the median run.
func columnsText(c *compare.Comparison) string {
	if slices.ContainsFunc(judgedTables(c), func(x compareTable) bool {
		return slices.ContainsFunc(x.all, func(r compare.Row) bool { return r.Shift != nil })
	}) {
		return "A and B: the geometric mean of the runs"
	}
	return "A and B: the median of the runs"
}

// changesText is what an ab changes, a change each.
func changesText(c *compare.Comparison) []string {
	var out []string
	for _, x := range c.Changes {
		out = append(out, plain(x.String()))
	}
	return out
}

// judgedTables returns the tables whose figures are judged, or would be if they could.
func judgedTables(c *compare.Comparison) []compareTable {
	var out []compareTable
	for _, x := range compareTables(c, false) {
		if x.shown {
			out = append(out, x)
		}
	}
	return out
}

// outcomeLegend explains the outcomes; empty if no row has one.
func outcomeLegend(c *compare.Comparison) string {
	if c.Refused != "" {
		return ""
	}
	return fmt.Sprintf(" SLOWER and FASTER: the whole interval is beyond ±%s.", percentage(c.MinEffect))
}

// accountWords returns the message counts of a side.
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

// compareList is a list on a screen, cut to the available room.
type compareList struct {
	lead  string
	lines []string // each is shown in one line
	style style
	below bool // it stands below the figures, since it is about them
	shown int  // number of lines that have room
}

// shownLists returns the visible parts of the lists below the figures, or above them.
func shownLists(lists []compareList, below bool) (out document) {
	for _, l := range lists {
		if l.below != below {
			continue
		}
		for i, text := range l.lines[:l.shown] {
			line := clipped{Mark: l.lead, Text: text, Style: l.style}
			if i > 0 {
				line.Mark = strings.Repeat(" ", lipgloss.Width(l.lead))
			}
			if left := len(l.lines) - l.shown; left > 0 && i == l.shown-1 {
				line.More = fmt.Sprintf(" (and %d more)", left)
			}
			out.add(line)
		}
	}
	return out
}

// compareLists returns the lists of a comparison, the most important first.
func compareLists(c *compare.Comparison) []compareList {
	besides, replaced, _, suspect := compareRemarks(c)
	unlike := compareList{lead: "  difference  ", style: warning}
	for _, d := range c.Differences {
		unlike.lines = append(unlike.lines, differenceText(d))
	}
	left := compareList{lead: "  left out    "}
	for _, l := range c.Left {
		if !l.Partner {
			left.lines = append(left.lines, l.Side+" "+plain(filepath.Base(l.Run))+": "+plain(l.Why))
		}
	}
	remarks := compareList{lead: "  ↳ ", style: faint, below: true}
	for _, t := range judgedTables(c) {
		remarks.lines = append(remarks.lines, remarksOf(t.all)...)
	}
	follows := compareList{lead: "  with it     "}
	for _, d := range c.Follows {
		if c.Guarantees != "" && d.Guarantee() {
			continue // already said
		}
		follows.lines = append(follows.lines, differenceText(d))
	}
	var worse, open points
	for _, r := range besides {
		if r.Word == "undecided" {
			open = append(open, r)
		} else {
			worse = append(worse, r)
		}
	}
	return []compareList{{lead: "  regression  ", style: bad, lines: worse.texts()}, {lead: "  undecided   ", style: warning, lines: open.texts()}, unlike, {lead: "  replaced    ", lines: replaced.texts()}, left,
		{lead: "  suspect     ", style: warning, lines: suspect.texts()}, {lead: "  cost        ", lines: costWords(c), below: true}, remarks, follows}
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

// compareShort lays out figures and statements without remarks. It drops columns if the
// width is too small. Without a statement it shows the range of the runs beside their
// median.
func compareShort(all []compare.Row, c *compare.Comparison, width int) *table {
	x := figuresOf(all, c, false)
	stated := len(x.Head) > 4
	if !stated && len(c.Pairs) > 1 {
		x = figuresOf(all, c, true).without(6).without(3)
		x.Head = columnHeads("lrrrrl", "", "A", "runs", "B", "runs", "")[:len(x.Head)]
	}
	for i := range x.Rows {
		x.Rows[i].Notes = nil
	}
	for narrow := 0; narrow < 3 && x.total() > width; narrow++ {
		switch {
		case stated && narrow == 0: // the change in the figure's unit
			x = x.without(4)
		case stated && narrow == 1:
			x = x.without(3)
			x.Gap = 2
		case stated:
			for _, r := range x.Rows {
				r.Cells[3].Text = strings.Replace(r.Cells[3].Text, " % to ", " to ", 1)
			}
		case narrow == 1:
			x.Gap = 2
		case narrow == 2 && len(x.Head) > 4:
			x = x.without(4).without(2)
		}
	}
	return x
}
