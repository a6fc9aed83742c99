package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"sixnines/internal/spell/spelltest"
	"sixnines/internal/sweep"
	"sixnines/result"
)

// swept is a sweep over rates and, if asked, sizes: the highest rate is UNSTABLE in
// one of two rounds, and one run is INVALID.
func swept(t *testing.T, axes ...string) *Sweep {
	t.Helper()
	var all []sweep.Axis
	for _, text := range axes {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	g, err := sweep.NewGrid(all...)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[int][]sweep.Outcome{}
	for i := range g.Len() {
		for round := 1; round <= 2; round++ {
			o := sweep.Outcome{Round: round, Status: result.Valid, Metric: result.DeliveryResponse, Asked: 100, Achieved: float64(1000 + i), BrokerCPU: 2e-6,
				Figures: map[result.Percentile]sweep.Figure{}}
			for k, p := range sweep.Percentiles() {
				v := int64((i + 1) * (k + 1) * 1e5)
				o.Figures[p] = sweep.Figure{Value: v, Low: v / 2, High: v * 2, AtLeast: p == "99.9"}
			}
			if i%4 == 3 && round == 2 {
				o.Status = result.Unstable
				o.Figures = map[result.Percentile]sweep.Figure{"50": {Missing: "unstable"}, "99": {Missing: "unstable"}, "99.9": {Missing: "unstable"}}
			}
			if i == 1 && round == 2 {
				o.Status = result.Invalid
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	return &Sweep{Table: sweep.NewTable(g, 2, outcomes), Title: "<b>x</b>", Findings: []string{"the knee is <here>"}}
}

// The table has a row a cell, says of each how it is to be taken, and gives up
// columns where there is no room.
func TestSweepTerminal(t *testing.T) {
	s := swept(t, "rate=1k/s,2k/s,4k/s,8k/s")
	var wide, narrow bytes.Buffer
	for w, width := range map[*bytes.Buffer]int{&wide: 250, &narrow: 60} {
		if err := SweepTerminal(w, s, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
	}
	for _, found := range slices.Concat(spelltest.Words(wide.String()), spelltest.Numbers(wide.String())) {
		t.Error(found)
	}
	for _, want := range []string{"1,000/s", "UNSTABLE 1 of 2", "INVALID 1 of 2", "n/a (unstable)", "100 µs", "≥ ", "50.0 µs – 200 µs", "2.00 µs", "the knee is <here>"} {
		if !strings.Contains(wide.String(), want) {
			t.Errorf("%q is missing in\n%s", want, wide.String())
		}
	}
	if strings.Contains(narrow.String(), "50.0 µs – 200 µs") || !strings.Contains(narrow.String(), "UNSTABLE") {
		t.Errorf("narrow:\n%s", narrow.String())
	}
}

func TestSweepCSV(t *testing.T) {
	var b bytes.Buffer
	if err := SweepCSV(&b, swept(t, "rate=1k/s,2k/s,4k/s,8k/s").Table); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 5 {
		t.Fatalf("%v: %v", err, lines)
	}
	cell := func(row int, column string) string {
		for i, name := range lines[0] {
			if name == column {
				return lines[row][i]
			}
		}
		t.Fatalf("no column %s in %v", column, lines[0])
		return ""
	}
	for _, c := range []struct {
		row          int
		column, want string
	}{{1, "rate", "1000"}, {1, "runs", "2"}, {1, "p99_ns", "200000"}, {1, "p99_low_ns", "100000"}, {1, "p99.9_mark", "at-least"}, {1, "broker_cpu_ns", "2000"},
		{4, "unstable", "1"}, {4, "p50_ns", ""}, {4, "p50_mark", "unstable"}, {2, "invalid", "1"}, {4, "achieved_per_s", "1003"}} {
		if got := cell(c.row, c.column); got != c.want {
			t.Errorf("%s of line %d is %q, want %q", c.column, c.row, got, c.want)
		}
	}
}

// A round that was refused is where the interval ends, and how many rounds a figure
// rests on is said where it is not all.
func TestSweepRefused(t *testing.T) {
	s := swept(t, "rate=1k/s,2k/s")
	runs := s.Rows[0].Runs
	third := runs[1]
	third.Round, third.Figures = 3, map[result.Percentile]sweep.Figure{"50": runs[1].Figures["50"], "99": {Missing: "refused"}, "99.9": {Missing: "unsupported"}}
	s.Table = sweep.NewTable(sweep.Grid{Axes: s.Axes}, 3, map[int][]sweep.Outcome{0: append(runs, third)})
	var b, table bytes.Buffer
	if err := errors.Join(SweepTerminal(&b, s, Options{Width: 250}), SweepCSV(&table, s.Table)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100 µs – refused", "p99 of 2 rounds; p99.9 of 2 rounds"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	if want := ",200000,100000,,refused-above,"; !strings.Contains(table.String(), want) {
		t.Errorf("%q is missing in\n%s", want, table.String())
	}
}

// One curve has its percentiles in one chart, with what was UNSTABLE in grey and no
// latency there; several have a chart for each percentile.
func TestSweepPage(t *testing.T) {
	for _, tt := range []struct {
		axes   []string
		charts int
		want   []string
	}{
		{[]string{"rate=1k/s,2k/s,4k/s,8k/s"}, 2, []string{"Grey: UNSTABLE", ">p50<", ">p99.9<", `class="pause"`, "UNSTABLE", "rate asked", "asked"}},
		{[]string{"size=256B,1KiB", "rate=1k/s,2k/s,4k/s,8k/s"}, 8, []string{"p99 over rate and size", "A line has a gap or ends where", "size=256B", "size=1KiB", "p99.9 over rate asked"}},
		{[]string{"producers=1,2,4"}, 2, []string{"producers"}},
		{[]string{"workloads.traffic.rate=1k/s,2k/s"}, 2, []string{">2 k/s<", "p99.9"}},
		{[]string{"pattern=publish,deliver"}, 0, []string{"publish"}},
	} {
		var b bytes.Buffer
		if err := SweepHTML(&b, swept(t, tt.axes...)); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if n := strings.Count(page, "<svg"); n != tt.charts {
			t.Errorf("%v: %d charts, want %d", tt.axes, n, tt.charts)
		}
		for _, want := range append(tt.want, "the knee is &lt;here&gt;", "&lt;b&gt;x&lt;/b&gt;") {
			if !strings.Contains(page, want) {
				t.Errorf("%v: %q is missing", tt.axes, want)
			}
		}
		if !strings.Contains(page, "<tr hidden>") {
			t.Error("the last cell is shown like a maximum")
		}
		if strings.Contains(page, "NaN") || strings.Contains(page, "<script") {
			t.Errorf("%v: the page has what it must not", tt.axes)
		}
		for rest := page; ; {
			_, after, ok := strings.Cut(rest, "<svg")
			if !ok {
				break
			}
			text, after, _ := strings.Cut(after, "</svg>")
			rest = after
			d := xml.NewDecoder(strings.NewReader("<svg" + text + "</svg>"))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%v: a picture is no XML: %v", tt.axes, err)
					break
				}
			}
		}
	}
}

// Rates that were written in several ways stand in one.
func TestSweepRates(t *testing.T) {
	s := swept(t, "size=256B,1KiB", "rate=1k/s..4000/s:lin:4")
	var b, page bytes.Buffer
	if err := errors.Join(SweepTerminal(&b, s, Options{Width: 250}), SweepHTML(&page, s)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"table": b.String(), "page": page.String()} {
		for spelling, is := range map[string]bool{"1k/s": false, "3000/s": false, "1,000/s": true, "3,000/s": true} {
			if strings.Contains(text, spelling) != is {
				t.Errorf("that %s is in the %s is %t", spelling, name, !is)
			}
		}
	}
}

// Names that are wider than their columns go on in the next line, and nothing of them
// is lost.
func TestSweepHeads(t *testing.T) {
	var b bytes.Buffer
	if err := SweepTerminal(&b, swept(t, "workload.consumer.work=1ms,2ms"), Options{Width: 250}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  workload.\n", "consumer.work "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"delivery.response p99 < 10ms", 14, "delivery.|response p99 <|10ms"},
		{"a name of words", 6, "a name|of|words"},
		{"unbroken", 3, "unb|rok|en"},
		{"short", 14, "short"},
		{"", 14, ""},
		{"wide 漢字漢字", 4, "wide|漢字|漢字"},
		{"漢字", 1, "漢|字"},
	} {
		if got := strings.Join(divided(tt.text, tt.width), "|"); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

// asked adds objectives to the runs of a sweep: one that is met in all, and one of
// which the first two cells miss a round.
func asked(s *Sweep) *Sweep {
	outcomes := map[int][]sweep.Outcome{}
	for i, r := range s.Rows {
		for k, o := range r.Runs {
			outcome := "met"
			if i < 2 && k == 1 {
				outcome = []string{"missed", "meaningless"}[i]
			}
			o.Objectives = []result.Objective{{Text: "lost == 0", Outcome: "met", Found: "there are 0"}, {Text: "delivery.response p99 < 1ms", Outcome: outcome, Found: "why"}}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	return &Sweep{Table: sweep.NewTable(sweep.Grid{Axes: s.Axes}, s.Rounds, outcomes), Title: s.Title}
}

// Each cell says of each objective whether it is met.
func TestSweepObjectives(t *testing.T) {
	s := asked(swept(t, "rate=1k/s,2k/s,4k/s,8k/s"))
	var b, table, page bytes.Buffer
	if err := errors.Join(SweepTerminal(&b, s, Options{Width: 250}), SweepCSV(&table, s.Table), SweepHTML(&page, s)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lost == 0: met in 4 of 4 cells", "delivery.response p99 < 1ms: met in 2 of 4 cells, missed in 1, meaningless in 1", "response p99 <"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for _, want := range []string{`<td class="bad">missed</td>`, `<td class="suspect">meaningless</td>`, `<td class="valid">met</td>`, "delivery.<wbr>response p99 &lt; 1ms</th>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is missing on the page", want)
		}
	}
	lines, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var last []string
	for _, l := range lines {
		last = append(last, strings.Join(l[len(l)-2:], " | "))
	}
	if got, want := strings.Join(last, "; "), "lost == 0 | delivery.response p99 < 1ms; met | missed; met | meaningless; met | met; met | met"; got != want {
		t.Errorf("the CSV has %q, want %q", got, want)
	}
}

// Charts have the marks of the table, and a band without an upper end goes up to the top.
func TestSweepChartsKeepTheMarks(t *testing.T) {
	a, err := sweep.ParseAxis("rate=1k/s,2k/s,4k/s,8k/s")
	if err != nil {
		t.Fatal(err)
	}
	g, err := sweep.NewGrid(a)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[int][]sweep.Outcome{}
	for i := range g.Len() {
		for round := 1; round <= 3; round++ {
			o := sweep.Outcome{Round: round, Status: result.Valid, Metric: result.DeliveryResponse, Achieved: 1000, Figures: map[result.Percentile]sweep.Figure{}}
			f := sweep.Figure{Value: 1e6, Low: 9e5, High: 11e5, Suspect: i == 2, AtLeast: i == 3}
			if i == 1 && round == 3 {
				o.Status, f = result.Unstable, sweep.Figure{Missing: "unstable"}
			}
			for _, p := range sweep.Percentiles() {
				o.Figures[p] = f
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	table := sweep.NewTable(g, 3, outcomes)
	c := sweepCharts(table)[0]
	l := c.Lines[0]
	if want := []string{"", "", "?", "≥"}; !slices.Equal(l.Signs, want) {
		t.Errorf("the points have %q, want %q", l.Signs, want)
	}
	for i, open := range []bool{false, true, false, true} {
		if (l.Hi[i] == c.Y.Max) != open {
			t.Errorf("point %d: the band ends at %g of %g", i, l.Hi[i], c.Y.Max)
		}
	}
	var page, text bytes.Buffer
	s := &Sweep{Table: table, Title: "x"}
	if err := errors.Join(SweepHTML(&page, s), SweepTerminal(&text, s, Options{Width: 250})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">≥</text>", ">?</text>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if !strings.Contains(text.String(), "900 µs – unstable") || !strings.Contains(text.String(), "900 µs – ≥ 1.10 ms") {
		t.Errorf("the table:\n%s", text.String())
	}
}
