package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"sixnines/internal/compare"
	"sixnines/result"
	"sixnines/semantics"
)

// compareSets makes sets of runs of which B is slower by a factor; what they
// hold of text is hostile.
func compareSets(t *testing.T, pairs int, factor float64, change func(side int, r *result.Run)) *compare.Comparison {
	t.Helper()
	var sets [2][]*result.Run
	for n := range 2 * pairs {
		side := (n + n/2) % 2
		scale := 1 + 0.001*float64(n*7%5)
		if side == 1 {
			scale *= factor
		}
		d := &result.Distribution{Count: 1e5, Samples: 1e5, Max: int64(9e6 * scale), Figures: map[result.Percentile]result.Figure{}}
		for i, p := range result.Percentiles()[:7] {
			v := 80e3 * scale * float64(int(1)<<i)
			d.Figures[p] = result.Figure{Value: int64(v), Interval: &result.Bounds{Low: int64(0.98 * v), High: int64(1.02 * v)}}
		}
		r := &result.Run{Path: fmt.Sprintf("dir/<b>|%02d\x1b[31m.jsonl", n),
			Header: result.Header{ID: fmt.Sprint(n), Name: "n|*<i>\x07", Started: time.Date(2026, 11, 21, 12, n, 0, 0, time.UTC),
				Mode: result.ModeOpen, Pattern: "deliver", Driver: "nats", Rate: 1000, Size: 256,
				Semantics: result.Semantics{Batching: []string{"none", "<script>|\x1b]0;x\x07"}[side]}},
			Summary: &result.Summary{Verdict: result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: "x", Metric: result.DeliveryService, Text: "a|b\x1b[0m <u>"}}},
				Rate: result.Rate{Asked: 1000, Sent: 1000, WorstSecond: 1}, Counters: result.Counters{Scheduled: 10000},
				Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d, result.DeliveryService: d}}}
		if n == 0 {
			r.Summary.Verdict.Status = result.Invalid
		}
		if change != nil {
			change(side, r)
		}
		sets[side] = append(sets[side], r)
	}
	c, err := compare.Compare(sets[0], sets[1], compare.Options{MinEffect: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compareText(t *testing.T, c *compare.Comparison, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := CompareTerminal(&b, c, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompareTerminal(t *testing.T) {
	c := compareSets(t, 8, 1.2, nil)
	for _, width := range []int{60, 80, 100, 200} {
		text := compareText(t, c, Options{Width: width, Full: true})
		for _, l := range strings.Split(text, "\n") {
			if w := lipgloss.Width(l); w > width && width >= 80 {
				t.Errorf("%d columns: %d: %s", width, w, l)
			}
		}
		if strings.ContainsAny(text, "\x1b\x07") {
			t.Errorf("%d columns: control characters", width)
		}
		// What is unlike and who is left out is read before any figure.
		rest := text
		for _, want := range []string{"SLOWER  B is slower than A by more than 5 %", "DIFFERENCES", "batching", "LEFT OUT", "INVALID", "SUSPECT", "DELIVERY RESPONSE",
			"judged", "p99.99", "max", "from run to run", "DELIVERY SERVICE", "not judged", "MESSAGES"} {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%d columns: %q is missing or in the wrong place\n%s", width, want, text)
			}
			rest = after
		}
	}
	text := compareText(t, c, Options{Width: 120, Full: true})
	if row := lineWith(text, "  p50 "); !strings.Contains(row, "80.2 µs") || !strings.Contains(row, "96.2 µs") || !strings.Contains(row, "+20 %") ||
		!strings.Contains(row, "+16.0 µs") || !strings.HasSuffix(row, "SLOWER") {
		t.Errorf("%q", row)
	}
	if row := lineWith(text, "  max "); strings.Contains(row, "%") || strings.Contains(row, "SLOWER") {
		t.Errorf("the maximum is judged: %q", row)
	}
	if text := compareText(t, c, Options{Color: true}); !strings.Contains(text, "\x1b[") {
		t.Error("no colour")
	}
	for _, r := range compareText(t, c, Options{ASCII: true}) {
		if r > '~' {
			t.Errorf("%q is not ASCII", r)
		}
	}
}

func lineWith(text, part string) string {
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, part) {
			return l
		}
	}
	return ""
}

// abSets are the runs of an ab of which B stores its messages, and, if asked, has much
// to be said of.
func abSets(t *testing.T, pairs int, factor float64, change func(side, n int, r *result.Run)) *compare.Comparison {
	return compareSets(t, pairs, factor, func(side int, r *result.Run) {
		n, err := strconv.Atoi(r.Header.ID)
		if err != nil {
			t.Fatal(err)
		}
		r.Path = fmt.Sprintf("results/ab/pair-%02d-%c.jsonl", n/2+1, 'A'+rune(side))
		h := &r.Header
		h.Name, h.Driver, h.Semantics = "", "jetstream", result.Semantics{Durability: "memory", Delivery: "at least once", Batching: "none"}
		h.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n/2 + 1, Index: n + 1, Of: 2 * pairs}
		h.Scenario = json.RawMessage(`{"target":{"driver":"jetstream"},"workload":{"rate":"1000/s"}}`)
		if side == 1 {
			h.Scenario = json.RawMessage(`{"target":{"driver":"jetstream","options":{"queue":2048}},"workload":{"rate":"1000/s"}}`)
		}
		r.Summary.Verdict = result.Verdict{Status: result.Valid}
		if change != nil {
			change(side, n, r)
		}
	})
}

// What is printed unless all is asked for fits a screen, at any width.
func TestCompareScreen(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{
		"slower": abSets(t, 10, 1.2, nil),
		"weaker": abSets(t, 10, 1/1.2, func(side, n int, r *result.Run) {
			s := &r.Header.Semantics
			s.Durability = []string{"page cache; fsync every 2m0s", "memory"}[side]
			s.Levels.Durability = []semantics.Durability{semantics.PageCache, semantics.Memory}[side]
		}),
		"few": abSets(t, 5, 2, nil),
		"crowded": abSets(t, 10, 1, func(side, n int, r *result.Run) {
			r.Header.Broker = map[string]string{"version": []string{"2.14.0", "2.15.2"}[side]}
			for i := range 9 {
				r.Header.Machine = append(r.Header.Machine, result.Fact{Section: "cpu", Name: fmt.Sprintf("fact %d", i), Value: []string{"one of many words", "another of many words"}[side]})
				r.Summary.Verdict.Status = result.Suspect
				r.Summary.Verdict.Reasons = append(r.Summary.Verdict.Reasons, result.Reason{Status: result.Suspect, Code: result.ReasonCode(fmt.Sprintf("reason-%d", i)), Metric: result.DeliveryResponse, Percentile: "99", Found: "a reason with many words, so many that they fit no line of any terminal that is in use today or was then"})
			}
			if n > 17 {
				r.Header.Trial.Replaces = 1 + (n-18)/2
			}
			if n < 2 || n > 11 && n < 16 {
				r.Summary.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Code: "accounts", Found: "the accounts do not agree"}}}
			}
		}),
	} {
		for _, width := range []int{60, 80, 120} {
			text := compareText(t, c, Options{Width: width, Page: "page.html", Details: "sixnines compare --full results/ab-20261121T120000Z-0123abcd"})
			golden(t, fmt.Sprintf("compare-%s-%d.txt", name, width), []byte(text))
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if len(lines) > screenLines && width >= 80 {
				t.Errorf("%s, %d columns: %d lines", name, width, len(lines))
			}
			for _, l := range lines {
				if w := lipgloss.Width(l); w > width {
					t.Errorf("%s, %d columns: %d: %s", name, width, w, l)
				}
			}
		}
		if full := compareText(t, c, Options{Width: 80, Full: true}); strings.Count(full, "\n") <= screenLines {
			t.Errorf("%s: all of it has no more\n%s", name, full)
		}
	}
}

// Without the runs for it there is no ratio to be read as a verdict.
func TestCompareWithoutStatement(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{
		"too few": compareSets(t, 4, 3, nil),
		"unlike":  compareSets(t, 8, 3, func(side int, r *result.Run) { r.Header.Semantics.Durability = []string{"memory", "disk"}[side] }),
	} {
		var md bytes.Buffer
		if err := CompareMarkdown(&md, c); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"terminal": compareText(t, c, Options{}), "full": compareText(t, c, Options{Full: true}), "markdown": md.String()} {
			if strings.Contains(text, "SLOWER") || strings.Contains(text, "+200 %") || strings.Contains(text, "interval") {
				t.Errorf("%s, %s: a statement:\n%s", name, form, text)
			}
			if !strings.Contains(text, "p99") || !strings.Contains(text, "80.1 µs") && !strings.Contains(text, "80.2 µs") {
				t.Errorf("%s, %s: no figures:\n%s", name, form, text)
			}
		}
	}
}

func TestCompareMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := CompareMarkdown(&b, compareSets(t, 8, 1.2, nil)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, bad := range []string{"<script>", "<b>", "<i>", "<u>", "\x1b", "\x07"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is not escaped", bad)
		}
	}
	for _, want := range []string{"### SLOWER", "| difference | A | B |", "**SLOWER**", "| +20 % | +16.0 µs |", "</details>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Each table's rows have as many cells as its head.
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

func TestCompareHTML(t *testing.T) {
	write := func(c *compare.Comparison, sides [2][]*result.Run) string {
		t.Helper()
		var b bytes.Buffer
		if err := CompareHTML(&b, []*compare.Comparison{c}, sides[0], sides[1]); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		_, body, _ := strings.Cut(text, "<main>")
		body, data, _ := strings.Cut(body, `<script type="application/json" id="data">`)
		data, _, _ = strings.Cut(data, "</script>")
		for _, bad := range []string{"<script>", "<b>|", "<i>", "<u>", "\x1b", "\x07", "http:", "https:", "NaN", "Inf"} {
			if strings.Contains(strings.ReplaceAll(body+data, `xmlns="http://www.w3.org/2000/svg"`, ""), bad) {
				t.Errorf("%q is in the page", bad)
			}
		}
		if !json.Valid([]byte(data)) {
			t.Errorf("no JSON: %s", data)
		}
		return body
	}
	curves := openRun().make().Metrics[result.DeliveryResponse]
	var sides [2][]*result.Run
	c := compareSets(t, 8, 1.2, func(side int, r *result.Run) {
		r.Metrics = map[result.Metric]*result.Merged{result.DeliveryResponse: curves}
		sides[side] = append(sides[side], r)
	})
	text := write(c, sides)
	for _, want := range []string{`<span class="status">SLOWER`, "batching", "INVALID", `<td class="bad">SLOWER`, "16.0 µs",
		`data-chart="shift-delivery.response-0"`, `data-chart="curves-delivery.response-0"`, `data-chart="dots-delivery.response-0"`, "too small to matter, 5 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// A dot for each run at each percentile, of the seven pairs that are used.
	dots := compareDots(c.Metrics[0], comparedPairs(c, sides))
	for i, l := range dots.Lines {
		if len(l.X) != 7*7 || l.Labels[0] != "p50, pair 2" {
			t.Errorf("side %d: %d dots, the first %q", i, len(l.X), l.Labels[0])
		}
	}
	if shift := shiftChart(c, c.Metrics[0], comparedPairs(c, sides)); len(shift.Lines) != 1+7+1 || len(shift.Lines[0].X) != 7 || !(shift.Lines[0].Lo[0] > 0.19) || !(shift.Lines[1].Y[6] > 0.19) {
		t.Errorf("%+v", shift.Lines)
	}
	if x := compareCurves(result.DeliveryResponse, comparedPairs(c, sides)); len(x.Lines) != 2+2*7 || x.Lines[0].Thin || !x.Lines[2].Thin || x.Lines[0].Y[3] != x.Lines[2].Y[3] {
		t.Errorf("%d lines", len(x.Lines))
	}
	sides = [2][]*result.Run{}
	c = compareSets(t, 4, 3, func(side int, r *result.Run) { sides[side] = append(sides[side], r) })
	if text := write(c, sides); strings.Contains(text, "shift-") || strings.Contains(text, "+200 %") || !strings.Contains(text, "dots-") {
		t.Errorf("too few runs:\n%s", text)
	}
}

func TestCompareJSON(t *testing.T) {
	var b bytes.Buffer
	if err := CompareJSON(&b, compareSets(t, 8, 1.2, nil)); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for _, key := range []string{"kind", "outcome", "text", "min_effect", "a", "b", "differences", "pairs", "left_out", "doubts", "p", "metrics", "accounts", "regressions", "gate"} {
		if v[key] == nil {
			t.Errorf("no %s", key)
		}
	}
}

func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{1: "0.0 %", 1.0001: "0.0 %", 1.052: "+5.2 %", 0.952: "-4.8 %", 1.3: "+30 %", 0.5: "-50 %", 12: "× 12", 1e-9: "-100 %", 1e9: "× 1e+09"} {
		if got := change(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}

// What some run does not have stands there all the same, in every form, and so does a
// throughput of zero.
func TestCompareMissingFigures(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(side, n int, r *result.Run)
		want   []string
	}{
		"a latency": {func(side, n int, r *result.Run) {
			if n == 5 {
				delete(r.Summary.Histograms, result.DeliveryResponse)
			}
		}, []string{"in 1 of 20 runs not supported", "by signs, since some pairs have no ratio: of 10 pairs B is worse by more than 5 % in 0, not in 9, and in 1 it is not known"}},
		"deliveries": {func(side, n int, r *result.Run) {
			r.Header.Mode, r.Header.Rate, r.Summary.Rate = result.ModeFlatOut, 0, result.Rate{}
			r.Summary.Throughput = &result.Throughput{PerSecond: 4e5, Received: 10, ReceivedPerSecond: 3e5}
			if side == 1 && n != 5 {
				r.Summary.Throughput.Received, r.Summary.Throughput.ReceivedPerSecond = 0, 0
			}
		}, []string{"SLOWER  B is slower than A by more than 5 % at throughput", "300,000/s", "0/s", "delivered nothing in 9", "A and B: the median of the runs"}},
	} {
		var sides [2][]*result.Run
		c := abSets(t, 10, 1, func(side, n int, r *result.Run) {
			r.Summary.Verdict = result.Verdict{Status: result.Valid}
			tt.change(side, n, r)
			sides[side] = append(sides[side], r)
		})
		text := compareText(t, c, Options{Full: true, Width: 200}) + compareText(t, c, Options{Width: 200})
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		var page, md bytes.Buffer
		if err := errors.Join(CompareHTML(&page, []*compare.Comparison{c}, sides[0], sides[1]), CompareMarkdown(&md, c)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
