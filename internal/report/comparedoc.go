package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sixnines/internal/compare"
	"sixnines/result"
)

// CompareHTML writes comparisons, one for each workload, as one self-contained page like
// that of [HTML]: the full content of [CompareTerminal], and for each judged metric the
// shift function, the curves of the runs of both sides, and each run's percentiles. a and
// b are the compared runs.
func CompareHTML(w io.Writer, all []*compare.Comparison, a, b []*result.Run) error {
	var body document
	drawn := []*chart{}
	for i, c := range all {
		own := compareCharts(c, [2][]*result.Run{a, b}, i)
		drawn = append(drawn, own...)
		body = append(body, compareDocument(c, own, onPage)...)
	}
	tool := "sixnines"
	if len(b) > 0 {
		tool = toolOf(b[0].Parts()[0])
	}
	return writePage(w, comparePageTitle(all), "comparison", "", drawn, body,
		"Runs are compared with runs, never messages with messages: each run is one observation of each percentile.", credits(tool))
}

// comparePageTitle is what was compared.
func comparePageTitle(all []*compare.Comparison) string {
	if len(all) == 0 {
		return "Comparison"
	}
	c := all[0]
	title := plain(c.A.Label)
	if c.B.Label != c.A.Label {
		title += " against " + plain(c.B.Label)
	}
	if len(c.Changes) > 0 {
		title += ": " + strings.Join(changesText(c), ", ")
	}
	return shorten(title, 120)
}

// forcedText says that a ranking was made on request, in spite of decisive differences.
const forcedText = "Ranked despite decisive differences, as --rank-unlike requests."

// guaranteesText returns the guarantees in which the sides differ, if the outcome does not
// say so.
func guaranteesText(c *compare.Comparison) string {
	if c.Outcome == compare.Unranked && c.Asked { // the outcome says what was asked for
		return ""
	}
	return plain(c.Guarantees)
}

// compareRemarks returns remarks on the runs: regressions and undecided figures outside the
// tables, runs that were replaced or left out, and suspect runs.
func compareRemarks(c *compare.Comparison) (besides, replaced, left, suspect points) {
	for _, r := range gateRemarks(c, compare.Worse) {
		besides = append(besides, remark{Word: "regression", Text: r, Style: bad})
	}
	for _, r := range gateRemarks(c, compare.Open) {
		besides = append(besides, remark{Word: "undecided", Class: "suspect", Text: r, Style: warning})
	}
	for _, t := range replacedTexts(c) {
		replaced = append(replaced, remark{Word: "replaced", Class: "remark", Text: t})
	}
	for _, l := range c.Left {
		left = append(left, remark{Word: "left out", Class: "remark", Text: l.Side + " " + plain(l.Run) + ": " + plain(l.Why)})
	}
	for _, d := range c.SuspectReasons {
		suspect = append(suspect, remark{Word: "suspect", Class: "suspect", Text: d.Side + " " + suspectText(d, setNamed(c, d.Side)), Style: warning})
	}
	return besides, replaced, left, suspect
}

// compareDocument returns the report of a comparison: the outcome, what was changed, other
// differences, runs that are left out or suspect, and then the figures. drawn are the charts
// of a page.
func compareDocument(c *compare.Comparison, drawn []*chart, in medium) document {
	outcome := compareOutcome(c)
	say := func(b ...block) { outcome.Blocks = append(outcome.Blocks, b...) }
	say(compareSides(c)...)
	besides, replaced, left, suspect := compareRemarks(c)
	var rest document
	first := slices.Concat(besides, replaced, left, suspect)
	switch in {
	case inMarkdown:
		first = append(replaced[:min(len(replaced), 1)], besides...)
		if folds := slices.Concat(replaced[min(len(replaced), 1):], left, suspect); len(c.Replaced)+len(folds) > 0 {
			rest = append(rest, folded{Blocks: document{folds},
				Title: plural(int64(len(c.Replaced)), "pair") + " replaced, " + plural(int64(len(c.Left)), "run") + " left out, " + plural(int64(len(c.SuspectReasons)), "suspect reason")})
		}
	case inTerminal:
		first = besides
		for _, x := range []struct {
			name string
			all  points
		}{{"Replaced", replaced}, {"Left out", left}, {"Suspect", suspect}} {
			if len(x.all) > 0 {
				rest = append(rest, part{Title: x.name, Blocks: document{x.all.unmarked()}})
			}
		}
	}
	if len(c.Differences) == 0 {
		first = append(first, remark{Word: "differences", Class: "remark", Text: noDifferences(c)})
	}
	say(first)
	out := document{part{Label: "Outcome", Blocks: document{outcome}}}
	if len(c.Differences) > 0 {
		out = append(out, differences(c, in))
	}
	if len(c.Follows) > 0 {
		out = append(out, folded{Title: "Comes with the changes", Open: c.Guarantees != "", Blocks: document{differencesTable(c.Follows, false, in)}})
	}
	out = append(out, rest...)
	if in == onPage {
		out = append(out, part{Label: "Pictures", Blocks: document{livePictures(drawn)}})
	}
	more := folded{Title: "other latencies"}
	for _, x := range compareTables(c, in != inTerminal) {
		switch {
		case in == inTerminal:
			x.Fixed, x.Gives = len(x.Head) < 5, []int{4} // the change in the figure's unit: the ranges below tell the scale
			out = append(out, x.table)
			if spread := compareSpread(x.all); spread != nil {
				out.add(gap{}, spread)
			}
		case in == inMarkdown && x.judged:
			out = append(out, x.table)
		case in == inMarkdown:
			more.Blocks = append(more.Blocks, x.table)
		default:
			x.Class, x.After = "figures cells", remarksOf(x.all)
			for i := range x.Rows {
				x.Rows[i].Notes = nil
			}
			if x.judged {
				out = append(out, part{Title: x.Name, Blocks: document{x.table}})
			} else {
				out = append(out, folded{Title: x.Name, Blocks: document{x.table}})
			}
		}
	}
	if x := controlTable(c); x != nil {
		out = append(out, part{Title: "A beside A", Blocks: document{x}})
	}
	if x := spreadTable(c); x != nil {
		out = append(out, part{Title: "Spread of the change", Blocks: document{x}})
	}
	if len(more.Blocks) > 0 {
		out = append(out, more)
	}
	if x := compareAccounts(c); x != nil {
		x.Class = "figures cells"
		out = append(out, part{Title: "Messages", Blocks: document{x}})
	}
	if costs := comparedCosts(c, in); costs != nil {
		out = append(out, part{Title: "What actions cost", Blocks: costs})
	}
	if c.Stated() {
		out = append(out, keys(compareLegend(c)...)...)
	}
	return out
}

// compareOutcome returns the outcome of a comparison, and what was changed.
func compareOutcome(c *compare.Comparison) finding {
	out := finding{Status: compareTitle(c), Text: plain(c.Text), Class: outcomeClass(c.Outcome), Style: outcomeStyle(c.Outcome)}
	if g := guaranteesText(c); g != "" {
		out.Blocks = append(out.Blocks, notice{Head: g, Loud: true})
	}
	if c.Forced {
		out.Blocks = append(out.Blocks, notice{Head: forcedText, Loud: true})
	}
	if why := c.Unsound(); why != "" {
		if c.Planned == 0 { // else the rest is missing
			why += ". With --design apart the sides run one after the other"
		}
		out.Blocks = append(out.Blocks, notice{Head: "Nothing is decided: " + why + "."})
	}
	if len(c.Changes) > 0 {
		out.Blocks.add(facts{Lead: "B changes", List: changesText(c), Code: true, Separator: ", ", setting: setting{"  ", strong}})
	}
	return out
}

// compareSides describes both sets, and how their runs were paired.
func compareSides(c *compare.Comparison) document {
	indented := setting{Margin: "  "}
	return document{facts{Lead: "A", List: compareSide(c.A), setting: indented}, facts{Lead: "B", List: compareSide(c.B), setting: indented},
		facts{List: []string{compareHow(c)}, setting: indented}}
}

// differences lists in what the sides differ besides what was changed.
func differences(c *compare.Comparison, in medium) block {
	name := "Other differences"
	if len(c.Changes) == 0 {
		name = "Differences"
	}
	x := differencesTable(c.Differences, true, in)
	switch in {
	case onPage:
		return folded{Title: name, Open: true, Blocks: document{x}}
	case inMarkdown:
		return x
	}
	out := document{x}
	if c.Refused != "" && !c.Asked {
		out.say("  ", "So the sides are not ranked, and the figures are shown side by side. --rank-unlike ranks them anyway.", strong)
	}
	return part{Title: name, Blocks: out}
}

// compareLegend explains the columns.
func compareLegend(c *compare.Comparison) []string {
	columns := fmt.Sprintf("A and B: the geometric mean of the runs, or their median in a table without changes. Change: from A to B, as the mean over the pairs, with its interval by sign flips of %d pairs; p = %.3g.", len(c.Pairs), c.P)
	if c.Refused != "" {
		return []string{columns}
	}
	return []string{
		columns,
		fmt.Sprintf("SLOWER and FASTER: the whole interval is beyond ±%s (downwards %s). Within: the whole interval lies inside. Otherwise not decided.",
			percentage(c.MinEffect), change(1/(1+c.MinEffect))),
		"The maximum is shown but not judged: it grows with the length of a run.",
	}
}

// differenceText is a difference in a line.
func differenceText(d compare.Difference) string {
	return plain(d.What) + ": A " + plain(d.A) + ", B " + plain(d.B)
}

// compareSpread shows how much the runs of each set differ among themselves, beside the
// confidence interval of a single run; nil if no set has two runs.
func compareSpread(all []compare.Row) *table {
	x := &table{Head: columnHeads("lr", "", "A", "spread", "B", "spread", "within a run"), About: "from run to run", Even: true, Gives: []int{5}}
	for _, r := range all {
		if r.A.Runs < 2 && r.B.Runs < 2 {
			continue
		}
		w := within(r.A)
		if r.B.Within > r.A.Within {
			w = within(r.B)
		}
		x.add(compareRowName(r), compareRange(r, r.A), between(r.A), compareRange(r, r.B), between(r.B), w)
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return x
}

// outcomeClass is the class of a finding of an outcome.
func outcomeClass(o compare.Outcome) string {
	if s := outcomeStyle(o); s == good || s == bad {
		return s.class()
	}
	return "suspect"
}

// CompareMarkdown writes a comparison for a pull request (GitHub's dialect): the outcome,
// the judged figures and the differences are visible, the rest is folded.
func CompareMarkdown(w io.Writer, c *compare.Comparison) error {
	m := newMarkdown()
	m.document(compareDocument(c, nil, inMarkdown))
	return m.write(w)
}

// CompareTerminal writes a comparison, of one workload, for people. It fits a screen unless
// opt.Full is set.
func CompareTerminal(w io.Writer, c *compare.Comparison, opt Options) error {
	if opt.Width == 0 && !opt.Full {
		opt.Width = 80
	}
	p := newPrinter(opt)
	if opt.Full {
		p.document(compareDocument(c, nil, inTerminal))
	} else {
		compareScreen(p, c, opt.Page, opt.Details)
	}
	return p.write(w)
}

// differencesTable lists in what the sides differ and, if weighed, what each difference
// means; in a terminal one line each.
func differencesTable(all []compare.Difference, weighed bool, in medium) block {
	if in == inTerminal {
		var out points
		for _, d := range all {
			r := remark{Text: differenceText(d)}
			if weighed {
				r.Word, r.Text = string(d.Weight), r.Text+" ("+plain(d.Why)+")"
			}
			switch {
			case weighed && d.Weight == compare.Decisive:
				r.Style = bad
			case weighed && d.Weight == compare.Small:
				r.Style = faint
			}
			out = append(out, r)
		}
		return out
	}
	x := &table{Class: "sheet pairs", Head: textCells("difference", "A", "B")}
	if weighed {
		x.Head = append(x.Head, textCells("weight", "why it matters")...)
	}
	for _, d := range all {
		r := x.add(plain(d.What), plain(d.A), plain(d.B))
		if weighed {
			weight := cell{Text: string(d.Weight)}
			if d.Weight == compare.Decisive {
				weight.Style, weight.Bold = bad, true
			}
			r.Cells = append(r.Cells, weight, cell{Text: plain(d.Why)})
		}
	}
	return x
}

// compareTable is the table of a metric or of the throughput.
type compareTable struct {
	*table
	all    []compare.Row
	judged bool
	shown  bool // also in a report that shows only what matters
}

// compareTables returns the tables of a comparison's figures; see figuresOf for ranged.
func compareTables(c *compare.Comparison, ranged bool) []compareTable {
	var out []compareTable
	if c.Throughput != nil {
		all := []compare.Row{*c.Throughput}
		out = append(out, compareTable{figuresOf(all, c, ranged), all, true, true})
		out[0].Name = "Throughput"
	}
	for i, m := range c.Metrics {
		x := compareTable{figuresOf(m.Rows, c, ranged), m.Rows, m.Judged, m.Judged || c.Background && i == 0}
		x.Name = metricName(m.Metric)
		if c.Stated() {
			x.About = compareAbout(m, c)
		}
		out = append(out, x)
	}
	return out
}

// figuresOf lays out figures and statements; ranged: with the range and the spread of the
// runs.
func figuresOf(all []compare.Row, c *compare.Comparison, ranged bool) *table {
	stated := slices.ContainsFunc(all, func(r compare.Row) bool { return r.Shift != nil })
	decided := slices.ContainsFunc(all, func(r compare.Row) bool { return r.Outcome != "" })
	x := &table{Head: textCells("")}
	head := func(align string, names ...string) { x.Head = append(x.Head, columnHeads(align, names...)...) }
	switch {
	case ranged && stated:
		head("r", "A, mean", "runs", "spread", "B, mean", "runs", "spread")
	case ranged:
		head("r", "A, median", "runs", "spread", "B, median", "runs", "spread")
	default:
		head("r", "A", "B")
	}
	if stated {
		head("rrl", "change", "by", "95 % interval")
		x.Head[len(x.Head)-1].Centre = true
	}
	if decided && ranged {
		head("l", "outcome")
	} else if decided {
		head("l", "")
	}
	for _, r := range all {
		out := x.add(compareRowName(r)).noted(r.Notes...)
		say := func(more ...cell) { out.Cells = append(out.Cells, more...) }
		for _, f := range []compare.Figures{r.A, r.B} {
			say(cell{Text: compareCentre(r, f, stated)})
			if ranged {
				say(cell{Text: compareRange(r, f), Style: faint, Class: "interval"}, cell{Text: between(f)})
			}
		}
		if stated {
			say(cell{Text: compareChange(r)}, cell{Text: compareBy(r)}, cell{Text: compareInterval(r), Style: faint, Class: "interval"})
		}
		if decided {
			say(cell{Text: outcomeWord(r.Outcome, c.MinEffect), Style: outcomeStyle(r.Outcome), Bold: r.Outcome == compare.Slower || r.Outcome == compare.Faster})
		}
	}
	return x
}

// compareAccounts returns the counts and rates of both sides; nil if no side has any.
func compareAccounts(c *compare.Comparison) *table {
	if len(c.Accounts) == 0 {
		return nil
	}
	x := &table{Head: columnHeads("lr", "", "A", "B"), Even: true, Fixed: true}
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		r := x.add(a.Name, left, right)
		for i, v := range []float64{a.A, a.B} {
			if a.Loss && v > 0 {
				r.styled(1+i, bad)
			}
		}
	}
	return x
}
