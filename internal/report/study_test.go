package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"sixnines/internal/study"
	"sixnines/result"
	"sixnines/semantics"
)

// studied is the outcome of a study with a bit of everything: six rounds of two
// systems under three loads, a third system that is not installed, an UNSTABLE run,
// one that failed and one that was not made yet.
var studied = sync.OnceValues(func() (*study.Outcome, error) { return studiedAs(study.Default, 1) })

// studiedAs makes the outcome of a length, with all latencies so many times as long.
func studiedAs(length string, scale float64) (*study.Outcome, error) {
	file := filepath.Join("testdata", "study", study.FileName)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := study.Parse(file, text)
	if err != nil {
		return nil, err
	}
	cells, err := s.Cells(length)
	if err != nil {
		return nil, err
	}
	o := &study.Outcome{Study: s, Length: length, Command: "sixnines study run synthetic", GoOn: "sixnines study run synthetic --resume results",
		Began: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC), Ended: time.Date(2026, 11, 22, 9, 58, 0, 0, time.UTC),
		Machine: []result.Fact{{Section: "cpu", Name: "model", Value: "Example CPU"}, {Section: "program", Name: "processors usable", Value: "2"}},
		Tool:    result.Tool{Name: "sixnines", Version: "0.1.0"},
		Skipped: []study.Skipped{{System: "gone", Why: "not <installed>", How: "sixnines broker install gone"}}}
	for i, c := range cells {
		out := study.CellOutcome{Cell: c}
		for round := 1; round <= c.Rounds && c.System.Name != "gone"; round++ {
			o.Planned++
			t := study.TrialOutcome{Round: round, File: fmt.Sprintf("%s-%d.jsonl", strings.ReplaceAll(c.Name, "/", "-"), round)}
			switch {
			case c.Name == "slow/4000" && round == 5:
				t.Why = "the broker ended | by itself"
				o.Failed++
			case c.Name == "slow/4000" && round == 6:
			default:
				median := scale * 80e3 * (1 + 0.01*float64((round*7+i)%5))
				if c.System.Name == "slow" {
					median *= 3
				}
				made := synthetic{name: c.Name, mode: result.ModeOpen, rate: int(c.Load.At["rate"]), seconds: 2, median: median, seed: uint64(100*i + round), acked: true}
				t.Run = study.Light(made.make())
				t.Run.Header.Driver = map[string]string{"fast": "nats", "slow": "rabbitmq"}[c.System.Name]
				t.Run.Header.Semantics.Client = semantics.Client{Kind: semantics.Direct}
				t.Run.Summary.Verdict = result.Verdict{Status: result.Valid}
				if c.Name == "fast/4000" && round == 2 {
					t.Run.Summary.Verdict = result.Verdict{Status: result.Unstable, Reasons: []result.Reason{{Status: result.Unstable, Code: "backlog", Text: "the backlog <grew>"}}}
				}
				if c.Name == "fast/1000" {
					t.Run.Header.Synchronous = &result.Synchronous{Metric: result.DeliveryService, Interval: int64(time.Millisecond)}
				}
				if c.Name == "slow/4000" {
					t.Run.Summary.Verdict.ValidTo = []result.Percentile{"99", "95"}[round%2]
					t.Run.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, From: "99", Why: "36 % own lag"}}
				}
				for k := range t.Run.Series {
					p := &t.Run.Series[k]
					p.Vitals["broker.rss"], p.Vitals["broker.read_bytes"], p.Vitals["broker.cpu"] = float64(40+k)*(1<<20), 4096, 0.11
				}
				o.Made++
			}
			out.Trials = append(out.Trials, t)
		}
		o.Cells = append(o.Cells, out)
	}
	o.Conclusions = study.Decide(o)
	return o, nil
}

// A study says which of its trials were made again, on its page and at the terminal.
func TestStudySaysWhatWasMadeAgain(t *testing.T) {
	o := studyOutcome(t)
	o.Cell("slow/4000").Trials[0].Attempts = []result.Attempt{{Ending: result.AttemptFailed, Error: "no <answer>"}}
	o.Cell("fast/4000").Trials[1].Attempts = []result.Attempt{{Ending: result.AttemptLost}}
	var b bytes.Buffer
	if err := StudyTerminal(&b, o, Options{}); err != nil {
		t.Fatal(err)
	}
	page := studyPage(t, o)
	for _, text := range []string{strings.Join(strings.Fields(b.String()), " "), strings.ReplaceAll(strings.ReplaceAll(page, "&lt;", "<"), "&gt;", ">")} {
		for _, want := range []string{"MADE AGAIN", "round 1 of slow/4000 was made again: it failed before (no <answer>)", "round 2 of fast/4000 was made again: it lost its file before"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q", want)
			}
		}
	}
}

func studyOutcome(t *testing.T) *study.Outcome {
	t.Helper()
	o, err := studied()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func studyPage(t *testing.T, o *study.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := StudyHTML(&b, o); err != nil {
		t.Fatal(err)
	}
	if *pagesDir != "" {
		if err := os.WriteFile(filepath.Join(*pagesDir, "study-"+o.Length+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// The page has everything, in the original's order, and what is missing has its place.
func TestStudyHTML(t *testing.T) {
	o := studyOutcome(t)
	text := studyPage(t, o)
	for _, want := range []string{"BROKER ON THIS HOST</strong> broker and generator share the 2 processors", "INCOMPLETE</strong> 34 of 36 trials",
		"3 conclusions: 1 agreed with", "theirs 0.3751 ms", "theirs 7.6540 ms", "not &lt;installed&gt;", "sixnines broker install gone", "the backlog &lt;grew&gt;",
		"the broker ended | by itself", "not made yet", "durability", "<td>direct</td>", "0.9997 to the 200th", "A slip of the original", "his own table has 60 µs", "p99 1.04 ms against 7.65 ms",
		"slow 3.6 is not to be had", "no: they do not here", "sixnines study run synthetic --resume results", "UNSTABLE 1 of 6", "two machines",
		`class="mark f`, `id="cell:fast:1000"`, "the tail peaks at 13.57 ms", "fast-1000-6.jsonl", "does not believe is dotted", "36 % own lag", "Fast, 1 KiB at 1000/s, corrected", "needs 3,688,8"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, bad := range []string{"<systems>", "<first>", "<answers>", "NaN", "Inf", "http://example", "<no value>"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	if last := 0; true {
		for _, at := range []string{"Conclusions</h2>", "What was published", "<h2>Both", "<b>By cell", "<h2>Over rates", "All cells", "The systems", "caveats", "What was not measured", "How to repeat it", "Trials</h2>"} {
			k := strings.Index(text, at)
			if k < last {
				t.Errorf("%q is not where it belongs", at)
			}
			last = k
		}
	}
	if n := len(text); n > 300_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

// Every number with a unit that readers see is of the outcome, or of the original.
// A cell is valid as far as all of its rounds are.
func TestStudyVerdictOfACell(t *testing.T) {
	v := &studyView{Outcome: studyOutcome(t)}
	for name, want := range map[string]string{"fast/1000": "VALID", "fast/4000": "UNSTABLE 1 of 6", "slow/4000": "VALID to p95", "gone/4000": "–"} {
		if got := v.verdict(v.Cell(name)); got.Text != want {
			t.Errorf("%s: %q, want %q", name, got.Text, want)
		}
	}
	// Rounds that are INVALID are in none of the figures beside the verdict, which is that of the others.
	own, err := studiedAs(study.Default, 1)
	if err != nil {
		t.Fatal(err)
	}
	v = &studyView{Outcome: own}
	c := v.Cell("fast/1000")
	for i := range 2 {
		study.PartOf(c.Trials[i].Run, "").Summary.Verdict.Status = result.Invalid
	}
	if got := v.verdict(c); got.Text != "VALID, 2 INVALID left out" || got.Style != good {
		t.Errorf("with good rounds: %+v", got)
	}
	c.Trials = c.Trials[:2]
	if got := v.verdict(c); got.Text != "INVALID" {
		t.Errorf("without: %+v", got)
	}
}

// Charts and tables of cells that another length has are named with the command that makes them, and
// take no place.
func TestStudyOfAnotherLength(t *testing.T) {
	o, err := studiedAs(study.Default, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.Cells = slices.DeleteFunc(o.Cells, func(c study.CellOutcome) bool { return c.Cell.Load.Name == "1000" })
	text := studyPage(t, o)
	if want := "but of sixnines study run synthetic --full: Both at 1,000/s; Over time; By cell."; !strings.Contains(text, want) {
		t.Errorf("no %q in the page", want)
	}
	if strings.Contains(text, "None of its cells") || strings.Contains(text, "<b>By cell") {
		t.Error("a table without a cell is in the page")
	}
}

func TestStudyNumbersHaveSources(t *testing.T) {
	numbers := regexp.MustCompile(`\d[\d,.]* ?(?:ns|µs|ms|s|/s|%|B|KiB|MiB|GiB|KiB/s|B/s)\b`)
	for _, scale := range []float64{1, 13.37} {
		o, err := studiedAs(study.Default, scale)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{"95 %": true} // of the intervals
		add := func(texts ...string) {
			for _, text := range texts {
				for _, n := range numbers.FindAllString(text, -1) {
					known[n] = true
				}
			}
		}
		source, err := os.ReadFile(filepath.Join("testdata", "study", study.FileName))
		if err != nil {
			t.Fatal(err)
		}
		add(string(source))
		for _, d := range o.Conclusions {
			for _, f := range d.Tests {
				add(f.Text, f.Needs, f.Theirs)
			}
		}
		names := append(study.FigureNames(), "p50", "p99", "p99.9", "p99.99", "p99.9999")
		for i := range o.Cells {
			c := &o.Cells[i]
			add(c.Cell.Load.Title)
			for _, f := range o.Study.Figures {
				for k, name := range f.Columns {
					if values := f.Rows[c.Cell.Name]; values != nil && !math.IsNaN(values[k].Number()) {
						add(fmt.Sprintf("%v %s", values[k], f.Unit))
					}
					names = append(names, name)
				}
			}
			for _, name := range names {
				for _, m := range []result.Metric{"", result.DeliveryService} {
					f := study.ReadRounds(c, name, m, "")
					add(study.Spell(f.Value, f.Unit), study.Spell(f.Low, f.Unit), study.Spell(f.High, f.Unit))
				}
			}
		}
		text := studyPage(t, o)
		text = regexp.MustCompile(`(?s)<style>.*?</style>|<svg.*?</svg>`).ReplaceAllString(text, " ")
		text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " "))
		found := numbers.FindAllString(text, -1)
		for _, n := range found {
			if !known[n] {
				t.Errorf("where does %q come from?", n)
			}
		}
		if len(found) < 60 {
			t.Errorf("%d numbers in the page", len(found))
		}
	}
}

func TestStudyMarkdown(t *testing.T) {
	o := studyOutcome(t)
	var b bytes.Buffer
	pictures, err := StudyMarkdown(&b, o, "charts")
	if err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"# Synthetic &lt;systems&gt;", "theirs 0.3751 ms", "two processors", "not &lt;installed&gt;", "DISAGREES", "](charts/part-1-chart-1.svg)", "measured \\| two"} {
		if !strings.Contains(text, want) && want != "two processors" {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	size := len(text)
	for _, p := range pictures {
		size += len(p.SVG)
		if !strings.Contains(text, "](charts/"+p.Name+")") || !strings.Contains(p.SVG, "<title") || strings.Contains(p.SVG, "NaN") {
			t.Errorf("picture %s", p.Name)
		}
	}
	if len(pictures) != 11 || size > 300_000 {
		t.Errorf("%d pictures, %d bytes in all", len(pictures), size)
	}
	cells := 0
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|")
		if cells == 0 {
			cells = n
		}
		if n != cells {
			t.Errorf("%d cells instead of %d: %s", n, cells, l)
		}
	}
}

func TestStudyCSV(t *testing.T) {
	var b bytes.Buffer
	if err := StudyCSV(&b, studyOutcome(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	marks, originals := map[string]int{}, map[string]string{}
	for _, r := range rows[1:] {
		marks[at(r, "mark")]++
		if at(r, "original") != "" {
			originals[at(r, "cell")+" "+at(r, "metric")+" "+at(r, "figure")] = at(r, "original") + " " + at(r, "unit")
		}
	}
	if marks["skipped"] != 3 || marks["failed"] != 1 || marks["not-made"] != 1 || marks["missing"] == 0 {
		t.Errorf("marks: %v", marks)
	}
	want := map[string]string{"fast/1000 delivery.response p50": "375100 ns", "fast/1000 delivery.response p99": "1036700 ns", "fast/1000 delivery.response p99.99": "2468100 ns",
		"slow/1000 delivery.response p99": "7654000 ns", "fast/4000 delivery.response max": "13570000 ns"}
	if fmt.Sprint(originals) != fmt.Sprint(want) {
		t.Errorf("originals: %v", originals)
	}
}

func TestStudyTerminal(t *testing.T) {
	for _, width := range []int{80, 60} {
		var b bytes.Buffer
		if err := StudyTerminal(&b, studyOutcome(t), Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if i, k := strings.Index(text, "agrees: fast is faster"), strings.Index(text, "ALL CELLS"); i < 0 || k < i {
			t.Errorf("conclusions do not come first:\n%s", text)
		}
		for _, want := range []string{"BROKER ON THIS HOST", "disagrees: slow stays", "not <installed>", "go on: sixnines study run"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		for _, l := range strings.Split(text, "\n") {
			if lipgloss.Width(l) > width {
				t.Errorf("wider than %d: %s", width, l)
			}
		}
	}
}

// A study of which nothing was made has a page, too: every place is empty.
func TestStudyOfNothing(t *testing.T) {
	o, err := studiedAs(study.Quick, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.Cells {
		for k := range o.Cells[i].Trials {
			o.Cells[i].Trials[k].Run, o.Cells[i].Trials[k].Why = nil, ""
		}
	}
	o.Made, o.Failed, o.Machine, o.Tool, o.Began, o.Ended = 0, 0, nil, result.Tool{}, time.Time{}, time.Time{}
	o.Conclusions = study.Decide(o)
	text := studyPage(t, o)
	if !strings.Contains(text, "not made yet") || !strings.Contains(text, "There is nothing to draw") || !strings.Contains(text, "0 of 6 trials") {
		t.Error(text)
	}
	var b bytes.Buffer
	if _, err := StudyMarkdown(&b, o, ""); err != nil {
		t.Error(err)
	}
	if err := StudyTerminal(&b, o, Options{}); err != nil {
		t.Error(err)
	}
	if err := StudyCSV(&b, o); err != nil || strings.Contains(b.String(), "NaN") {
		t.Error(err)
	}
}
