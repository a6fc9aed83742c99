package report

import (
	"io"
	"slices"
	"strings"

	"sixnines/internal/compare"
	"sixnines/result"
)

// CompareHTML writes comparisons, of a workload each, as one self-contained page of
// the same kind as [HTML]: what [CompareTerminal] says in full, and of what is judged
// the shift function, the curves of the runs of both sides, and each run's percentiles.
// a and b are the runs that were compared.
func CompareHTML(w io.Writer, all []*compare.Comparison, a, b []*result.Run) error {
	var body document
	drawn := []*chart{}
	for i, c := range all {
		own := compareCharts(c, [2][]*result.Run{a, b}, i)
		drawn = append(drawn, own...)
		body = append(body, comparePage(c, own)...)
	}
	tool := "sixnines"
	if len(b) > 0 {
		tool = toolOf(b[0].Parts()[0])
	}
	return writePage(w, comparePageTitle(all), "comparison", drawn, body,
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

// forcedText says that a ranking was asked for in spite of what speaks against it.
const forcedText = "Ranked in spite of decisive differences, because --rank-unlike asked for it."

// guaranteesText is what sides guarantee unlike, where the outcome does not say it.
func guaranteesText(c *compare.Comparison) string {
	if strings.Contains(c.Text, c.Guarantees) {
		return ""
	}
	return plain(c.Guarantees)
}

// compareRemarks are what is to be said of the runs: what regressed or is undecided
// besides the tables, which were replaced or left out, and what is suspect.
func compareRemarks(c *compare.Comparison) (besides, replaced, left, suspect points) {
	for _, r := range gateRemarks(c, compare.Worse) {
		besides = append(besides, remark{Word: "regression", Text: r})
	}
	for _, r := range gateRemarks(c, compare.Open) {
		besides = append(besides, remark{Word: "undecided", Class: "suspect", Text: r})
	}
	for _, t := range replacedTexts(c) {
		replaced = append(replaced, remark{Word: "replaced", Class: "remark", Text: t})
	}
	for _, l := range c.Left {
		left = append(left, remark{Word: "left out", Class: "remark", Text: l.Side + " " + plain(l.Run) + ": " + plain(l.Why)})
	}
	for _, d := range c.SuspectReasons {
		suspect = append(suspect, remark{Word: "suspect", Class: "suspect", Text: d.Side + " " + suspectText(d, setNamed(c, d.Side))})
	}
	return besides, replaced, left, suspect
}

// comparePage is what the page says of a comparison.
func comparePage(c *compare.Comparison, drawn []*chart) document {
	outcome := finding{Status: compareTitle(c), Class: outcomeClass(c.Outcome), Blocks: document{text{Class: "outcome", Text: plain(c.Text)}}}
	say := func(b ...block) { outcome.Blocks = append(outcome.Blocks, b...) }
	if g := guaranteesText(c); g != "" {
		say(notice{Head: g, Loud: true})
	}
	if c.Forced {
		say(notice{Head: forcedText, Loud: true})
	}
	if len(c.Changes) > 0 {
		say(facts{Lead: "B changes", List: changesText(c), Code: true})
	}
	besides, replaced, left, suspect := compareRemarks(c)
	all := slices.Concat(besides, replaced, left, suspect)
	if len(c.Differences) == 0 {
		all = append(all, remark{Word: "differences", Class: "remark", Text: noDifferences(c)})
	}
	say(facts{Lead: "A", List: []string{strings.Join(compareSide(c.A), dot)}}, facts{Lead: "B", List: []string{strings.Join(compareSide(c.B), dot)}},
		facts{List: []string{compareHow(c)}}, all)
	out := document{part{Label: "Outcome", Blocks: document{outcome}}}
	name := "Other differences"
	if len(c.Changes) == 0 {
		name = "Differences"
	}
	if x := differencesTable(c.Differences, true); x != nil {
		out = append(out, folded{Title: name, Open: true, Blocks: document{x}})
	}
	if x := differencesTable(c.Follows, false); x != nil {
		out = append(out, folded{Title: "Comes with the changes", Open: c.Guarantees != "", Blocks: document{x}})
	}
	out = append(out, part{Label: "Pictures", Blocks: document{livePictures(drawn)}})
	for _, x := range compareTables(c, inColumns) {
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
	if x := compareAccounts(c); x != nil {
		x.Class = "figures cells"
		out = append(out, part{Title: "Messages", Blocks: document{x}})
	}
	if c.Stated() {
		for _, l := range compareLegend(c) {
			out = append(out, text{Class: "key", Text: l})
		}
	}
	return out
}

// outcomeClass is the class of a finding of an outcome.
func outcomeClass(o compare.Outcome) string {
	if s := outcomeStyle(o); s == good || s == bad {
		return s.class()
	}
	return "suspect"
}

// CompareMarkdown writes a comparison for a pull request (GitHub's dialect):
// the outcome, the judged figures and what is unlike in sight, the rest folded.
func CompareMarkdown(w io.Writer, c *compare.Comparison) error {
	m := newMarkdown()
	m.f("### %s\n\n%s\n\n", compareTitle(c), plain(c.Text))
	m.f("- **A**: %s\n- **B**: %s\n- %s\n", strings.Join(compareSide(c.A), dot), strings.Join(compareSide(c.B), dot), compareHow(c))
	if len(c.Changes) > 0 {
		m.f("- **B changes** %s\n", strings.Join(changesText(c), ", "))
	}
	if g := guaranteesText(c); g != "" {
		m.f("- **%s**\n", g)
	}
	if c.Forced {
		m.f("- **%s**\n", forcedText)
	}
	besides, replaced, left, suspect := compareRemarks(c)
	m.list(replaced[:min(len(replaced), 1)])
	m.list(besides)
	if len(c.Differences) == 0 {
		m.f("- %s\n", noDifferences(c))
	}
	m.table(differencesTable(c.Differences, true), "")
	more := folded{Title: "other latencies"}
	for _, x := range compareTables(c, inBrackets) {
		if x.judged {
			m.table(x.table, "")
		} else {
			more.Blocks = append(more.Blocks, x.table)
		}
	}
	if x := compareAccounts(c); x != nil {
		x.Head[0].Text = "messages"
		m.table(x, "")
	}
	if rest := slices.Concat(replaced[min(len(replaced), 1):], left, suspect); len(c.Replaced)+len(rest) > 0 {
		title := plural(int64(len(c.Replaced)), "pair") + " replaced, " + plural(int64(len(c.Left)), "run") + " left out, " + plural(int64(len(c.SuspectReasons)), "suspect reason")
		folded{Title: title, Blocks: document{rest}}.markdown(m)
	}
	if x := differencesTable(c.Follows, false); x != nil {
		folded{Title: "what comes with the changes", Blocks: document{x}}.markdown(m)
	}
	if len(more.Blocks) > 0 {
		more.markdown(m)
	}
	if c.Stated() {
		m.f("\n<sub>%s</sub>\n", strings.Join(compareLegend(c), " "))
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// differencesTable says in what the sides are unlike, with what that means; nil if they
// are not.
func differencesTable(all []compare.Difference, weighed bool) *table {
	if len(all) == 0 {
		return nil
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

// compareForm is how much room the figures of a comparison have.
type compareForm int

const (
	inColumns  compareForm = iota // ranges, spreads and changes in the figure's unit have columns
	inBrackets                    // they stand behind the figures
	inShort                       // there are no ranges, and changes in both units
)

// compareTable is the table of a metric or of the throughput.
type compareTable struct {
	*table
	all    []compare.Row
	judged bool
	shown  bool // where only what matters is
}

// compareTables are the tables of a comparison's figures.
func compareTables(c *compare.Comparison, form compareForm) []compareTable {
	var out []compareTable
	if c.Throughput != nil {
		all := []compare.Row{*c.Throughput}
		out = append(out, compareTable{figuresOf(all, c, form), all, true, true})
		out[0].Name = "Throughput"
	}
	for i, m := range c.Metrics {
		x := compareTable{figuresOf(m.Rows, c, form), m.Rows, m.Judged, m.Judged || c.Background && i == 0}
		x.Name = metricName(m.Metric)
		if c.Stated() {
			x.About = compareAbout(m, c)
		}
		out = append(out, x)
	}
	return out
}

// figuresOf lays out figures and statements.
func figuresOf(all []compare.Row, c *compare.Comparison, form compareForm) *table {
	stated := slices.ContainsFunc(all, func(r compare.Row) bool { return r.Shift != nil })
	decided := slices.ContainsFunc(all, func(r compare.Row) bool { return r.Outcome != "" })
	centre := "median"
	if stated {
		centre = "mean"
	}
	x := &table{Head: textCells("")}
	head := func(align string, names ...string) { x.Head = append(x.Head, columnHeads(align, names...)...) }
	switch form {
	case inColumns:
		head("r", "A, "+centre, "runs", "spread", "B, "+centre, "runs", "spread")
	case inBrackets:
		head("r", "A: "+centre+" (range, spread)", "B")
	default:
		head("r", "A", "B")
	}
	if stated {
		head("r", "change")
		if form != inBrackets {
			head("r", "by")
		}
		head("l", "95 % interval")
		x.Head[len(x.Head)-1].Centre = true
	}
	if decided {
		head("l", map[bool]string{true: "outcome"}[form == inColumns])
	}
	for _, r := range all {
		out := x.add(compareRowName(r)).noted(r.Notes...)
		say := func(form compareForm, text string, beside ...cell) {
			x := cell{Text: text}
			for _, b := range beside {
				if form == inBrackets {
					x.Notes = append(x.Notes, cellNotes("note", b.Text)...)
				}
			}
			out.Cells = append(out.Cells, x)
			if form == inColumns {
				out.Cells = append(out.Cells, beside...)
			}
		}
		for _, f := range []compare.Figures{r.A, r.B} {
			say(form, compareCentre(r, f, stated), cell{Text: compareRange(r, f), Style: faint, Class: "interval"}, cell{Text: between(f)})
		}
		if stated {
			by := form
			if form == inShort {
				by = inColumns
			}
			say(by, compareChange(r), cell{Text: compareBy(r)})
			out.Cells = append(out.Cells, cell{Text: compareInterval(r), Style: faint, Class: "interval"})
		}
		if decided {
			out.Cells = append(out.Cells, cell{Text: outcomeWord(r.Outcome, c.MinEffect), Style: outcomeStyle(r.Outcome), Bold: r.Outcome == compare.Slower || r.Outcome == compare.Faster})
		}
	}
	return x
}

// compareAccounts are the counts and rates of both sides; nil if there are none.
func compareAccounts(c *compare.Comparison) *table {
	if len(c.Accounts) == 0 {
		return nil
	}
	x := &table{Head: columnHeads("lr", "", "A", "B"), Even: true, Fixed: true}
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		r := x.add(a.Name, left, right)
		for i, v := range []float64{a.A, a.B} {
			if strings.HasPrefix(a.Name, "lost") && v > 0 {
				r.styled(1+i, bad)
			}
		}
	}
	return x
}
