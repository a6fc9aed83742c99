package report

import (
	"io"
	"strings"

	"sixnines/internal/compare"
	"sixnines/result"
)

// CompareHTML writes comparisons, of a workload each, as one self-contained page of
// the same kind as [HTML]: what [CompareTerminal] says in full, and of what is judged
// the shift function, the curves of the runs of both sides, and each run's percentiles.
// a and b are the runs that were compared.
func CompareHTML(w io.Writer, all []*compare.Comparison, a, b []*result.Run) error {
	page := comparePage{}
	var drawn []*chart
	for i, c := range all {
		part := comparePartOf(c)
		own := compareCharts(c, [2][]*result.Run{a, b}, i)
		part.Charts = pictures(own)
		drawn = append(drawn, own...)
		page.Parts = append(page.Parts, part)
	}
	var err error
	if page.shell, err = newShell(comparePageTitle(all), "comparison", drawn); err != nil {
		return err
	}
	page.Tool = "sixnines"
	if len(b) > 0 {
		page.Tool = toolOf(b[0].Parts()[0])
	}
	return writePage(w, "compare.html.tmpl", page)
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

// comparePage is what the template shows.
type comparePage struct {
	shell
	Parts []comparePart
}

// comparePart is what the page says of one comparison.
type comparePart struct {
	Title, Class, Text, A, B, How string
	Forced                        bool
	Changes                       []string
	Guarantees                    string
	Reasons                       []compareReason
	Differences                   []compareDifferencesTable
	Charts                        []pageChart
	Tables                        []compareTable
	Accounts                      [][3]string
	Legend                        []string
}

// compareReason is a line under the outcome.
type compareReason struct{ Word, Class, Text string }

type compareDifferencesTable struct {
	Name          string
	Open, Weighed bool
	Rows          []compare.Difference
}

func comparePartOf(c *compare.Comparison) comparePart {
	p := comparePart{Title: compareTitle(c), Class: outcomeStyle(c.Outcome).articleClass(), Text: plain(c.Text),
		A: strings.Join(compareSide(c.A), dot), B: strings.Join(compareSide(c.B), dot), How: compareHow(c),
		Forced: c.Forced, Changes: changesText(c)}
	if !strings.Contains(c.Text, c.Guarantees) {
		p.Guarantees = plain(c.Guarantees)
	}
	add := func(word, class, text string) { p.Reasons = append(p.Reasons, compareReason{word, class, text}) }
	for _, r := range besidesRows(c) {
		add("regression", "", plain(r))
	}
	for _, text := range replacedTexts(c) {
		add("replaced", "remark", text)
	}
	for _, l := range c.Left {
		add("left out", "remark", l.Side+" "+plain(l.Run)+": "+plain(l.Why))
	}
	for _, d := range c.SuspectReasons {
		add("suspect", "suspect", d.Side+" "+suspectText(d, setNamed(c, d.Side)))
	}
	for _, t := range []compareDifferencesTable{{"Other differences", true, true, c.Differences}, {"Comes with the changes", c.Guarantees != "", false, c.Follows}} {
		rows := make([]compare.Difference, len(t.Rows))
		for i, d := range t.Rows {
			d.What, d.A, d.B, d.Why = plain(d.What), plain(d.A), plain(d.B), plain(d.Why)
			rows[i] = d
		}
		if t.Rows = rows; len(rows) > 0 {
			p.Differences = append(p.Differences, t)
		}
	}
	if len(c.Changes) == 0 && len(c.Differences) > 0 {
		p.Differences[0].Name = "Differences"
	}
	if len(c.Differences) == 0 {
		add("differences", "remark", noDifferences(c))
	}
	if c.Throughput != nil {
		p.Tables = append(p.Tables, compareTableOf("Throughput", "", []compare.Row{*c.Throughput}, c, true))
	}
	for _, m := range c.Metrics {
		about := ""
		if c.Stated() {
			about = compareAbout(m, c)
		}
		p.Tables = append(p.Tables, compareTableOf(metricName(m.Metric), about, m.Rows, c, m.Judged))
	}
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		p.Accounts = append(p.Accounts, [3]string{a.Name, left, right})
	}
	if c.Stated() {
		p.Legend = compareLegend(c)
	}
	return p
}

// articleClass is the class of an article that a style heads.
func (s style) articleClass() string {
	switch s {
	case good:
		return "valid"
	case bad:
		return "bad"
	}
	return "suspect"
}

type compareTable struct {
	Name, About string
	Rows        []compareTableRow
	Remarks     []string
	Judged      bool
	Stated      bool // rows have changes
	Decided     bool // and outcomes
}

type compareTableRow struct {
	Name, A, RangeA, SpreadA, B, RangeB, SpreadB, Change, By, Interval, Outcome, Class string
}

func compareTableOf(name, about string, rows []compare.Row, c *compare.Comparison, judged bool) compareTable {
	t := compareTable{Name: name, About: about, Judged: judged, Remarks: remarksOf(rows)}
	for _, r := range rows {
		t.Stated, t.Decided = t.Stated || r.Shift != nil, t.Decided || r.Outcome != ""
		t.Rows = append(t.Rows, compareTableRow{Name: compareRowName(r), A: compareMedian(r, r.A), RangeA: compareRange(r, r.A), SpreadA: between(r.A),
			B: compareMedian(r, r.B), RangeB: compareRange(r, r.B), SpreadB: between(r.B), Change: compareChange(r), By: compareBy(r),
			Interval: compareInterval(r), Outcome: outcomeWord(r.Outcome, c.MinEffect), Class: outcomeStyle(r.Outcome).class()})
	}
	return t
}
