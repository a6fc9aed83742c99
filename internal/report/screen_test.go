package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"sixnines/result"
	"sixnines/semantics"
)

// screenText is the first screen of runs.
func screenText(t *testing.T, opt Options, runs ...*result.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, runs, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// screens are runs as they happen: of ten seconds at a low rate, with objectives that
// fail, overloaded, with acknowledgements and a broker of several nodes, and one of
// which there is more to say than finds room.
func screens() map[string]*result.Run {
	page := "results/nats-deliver-20261122T130400Z-0bc4d4ce"
	small := openRun()
	small.name, small.rate = "", 1000
	run := small.make()
	run.Header.Semantics.Client = semantics.Client{Kind: semantics.Direct, Name: "nats.go", Version: "1.52.0"}
	run.Summary.Steady = &result.Steady{Metric: result.DeliveryResponse, P50: result.Trend{Class: "flat", Stretches: 60},
		P99: result.Trend{Class: "not assessed", Stretches: 7}, Text: "p50 was flat; p99 was not assessed: p99 has 7 stretches"}
	limit(run, result.DeliveryResponse, "99", "99.9", "own-lag", "36 % own lag")
	run.Summary.Histograms[result.DeliveryResponse].Update("99.9", func(f *result.Figure) { f.OwnShare = new(0.36) })
	run.Summary.Attribution = []result.Attribution{{Metric: result.DeliveryResponse, Messages: 100, From: 400_000, Unexplained: 89, Causes: []result.Cause{
		{Source: string(result.PauseContention), Messages: 11, Share: 0.11, Expected: 0.01, Named: true, Text: "11 of the slowest 100"}}}}

	slo := openRun()
	slo.name = ""
	failing := slo.make()
	failing.Summary.Verdict = result.Verdict{Status: result.Valid}
	failing.Summary.Objectives = []result.Objective{
		{Text: "lost == 0", Outcome: "met", Found: "there are none"},
		{Text: "delivery.response p99 < 200us", Outcome: "missed", Brief: "254 µs, at least 252 µs with 97.5 % confidence",
			Found: "254 µs, at least 252 µs with 97.5 % confidence: 40 % of the messages are that slow; by stretches of the run: n/a, run longer"},
		{Text: "delivery.response p99.999 < 1s", Outcome: "undecided", Found: "the run has too few messages for this percentile: it needs 368,887"}}

	over := openRun()
	over.name, over.rate, over.median = "", 2000, 400e6
	overload := over.make()
	overload.Summary.Rate.Sent, overload.Summary.Rate.WorstSecond = 240, 0.11
	overload.Summary.Verdict = result.Verdict{Status: result.Unstable, Reasons: []result.Reason{
		{Status: result.Unstable, Code: "backlog", Brief: "carried 12 % of the asked rate",
			Found: "overload: the backlog (messages due or in flight) grew by 1,760/s over the last third of the window, to 17,600 messages, and did not shrink in the drain", Try: result.ReasonBacklog.Properties().Try},
		{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryService, Percentile: "50", Text: "x", Brief: "30 % own lag"}}}

	acked := openRun()
	acked.name, acked.acked = "", true
	kafka := acked.make()
	h := &kafka.Header
	h.Driver, h.Broker, h.Ack = "kafka", map[string]string{"product": "kafka", "version": "4.1.1"}, "broker"
	h.Deployment = &result.Deployment{Product: "kafka", Version: "4.1.1", Nodes: 3}
	h.Semantics.Settings = map[string]string{"client": "franz-go v1.20.4"} // as older files have it
	h.Semantics.Warnings = []string{"one copy: an acknowledged message is lost with the node that holds it"}
	kafka.Summary.Steady = &result.Steady{Metric: result.DeliveryResponse, P50: result.Trend{Class: "drift", Change: 0.12}, P99: result.Trend{Class: "flat"}, Text: "p50 drifted"}
	limit(kafka, result.DeliveryResponse, "", "50", "steady", "drift")
	limit(kafka, result.PublishResponse, "99", "99.9", "own-lag", "28 % own lag")
	kafka.Summary.Verdict.Status = result.Suspect

	much := richRun()
	much.Summary.Verdict = result.Verdict{Status: result.Valid}
	for i, code := range []result.ReasonCode{"own-lag", "warm-up", "steal", "gc", "rate"} {
		limit(much, result.DeliveryResponse, "", "99", code, fmt.Sprintf("reason %d", i+1))
	}
	much.Summary.Verdict.Limits = much.Summary.Verdict.Limits[:1]
	much.Summary.Verdict.Limits[0].Codes = []result.ReasonCode{"own-lag", "warm-up", "steal", "gc", "rate"}
	much.Summary.Interrupted = true
	much.Header.Semantics.Warnings = []string{"a warning of the driver that has so many words that it takes two lines of a terminal", "another warning"}
	all := map[string]*result.Run{"run": run, "slo": failing, "overload": overload, "kafka": kafka, "much": much}
	for _, r := range all {
		r.Path = page + ".jsonl"
	}
	return all
}

// limit makes a percentile of a run suspect.
func limit(r *result.Run, m result.Metric, to, from string, code result.ReasonCode, why string) {
	v := &r.Summary.Verdict
	if v.Status != result.Valid {
		*v = result.Verdict{Status: result.Valid}
	}
	if m == result.DeliveryResponse {
		v.ValidTo = result.Percentile(to)
	}
	v.Limits = append(v.Limits, result.Limit{Metric: m, ValidTo: result.Percentile(to), From: result.Percentile(from), Why: why, Codes: []result.ReasonCode{code}})
	v.Reasons = append(v.Reasons, result.Reason{Status: result.Suspect, Code: code, Metric: m, Percentile: result.Percentile(from), Brief: why,
		Found: why + " was found at this percentile in the measured window", Try: code.Properties().Try})
}

func TestScreenGolden(t *testing.T) {
	for name, run := range screens() {
		for _, width := range []int{60, 80, 120} {
			file := fmt.Sprintf("screen-%s-%d.txt", name, width)
			t.Run(file, func(t *testing.T) {
				golden(t, file, []byte(screenText(t, Options{Width: width, Page: strings.TrimSuffix(run.Path, "jsonl") + "html"}, run)))
			})
		}
	}
}

// What the slowest messages met is told by its name: a lost connection is no pause of
// the generator.
func TestScreenTellsOfEvents(t *testing.T) {
	run := limitedRun()
	run.Summary.Attribution = []result.Attribution{{Metric: result.DeliveryResponse, Messages: 100, Causes: []result.Cause{{Source: "disconnected", Messages: 90, Named: true}}}}
	if text := screenText(t, Options{}, run); !strings.Contains(text, "why   a lost connection (90 of the 100 slowest)") {
		t.Error(text)
	}
}

// Of several results there is a verdict each and one table, however many there are.
func TestScreenOfSeveral(t *testing.T) {
	for name, runs := range map[string][]*result.Run{"repeats": repeatedRuns(7), "open-closed": {stalledRun().make(), closedRun().make()}} {
		for _, width := range []int{60, 80} {
			text := screenText(t, Options{Width: width}, runs...)
			for _, l := range strings.Split(text, "\n") {
				if w := lipgloss.Width(l); w > width {
					t.Errorf("%s, width %d: a line takes %d: %q", name, width, w, l)
				}
			}
			if width == 80 {
				golden(t, "screen-"+name+"-80.txt", []byte(text))
			}
		}
	}
}

// Workloads of one run stand below each other, and another run's results do not.
func TestScreensOfWorkloads(t *testing.T) {
	a, b := openRun().make(), closedRun().make()
	a.Header.Workload, b.Header.Workload, b.Header.Background = "events", "traffic", true
	text := screenText(t, Options{}, a, b)
	first, second := strings.Index(text, "A nats-20k events: SUSPECT"), strings.Index(text, "B nats-closed traffic (background): VALID")
	if first != 0 || second < 100 || strings.Count(text, "95 % interval") != 2 {
		t.Errorf("%d, %d:\n%s", first, second, text)
	}
	b.Header.ID = "another"
	if text := screenText(t, Options{}, a, b); strings.Contains(text, "95 % interval") || !strings.Contains(text, "DELIVERY LATENCY, RESPONSE") {
		t.Errorf("results of several runs:\n%s", text)
	}
}

// What never came through has no service time, though it was the slowest.
func TestScreenOfAnOverloadThatLostMessages(t *testing.T) {
	const want = "service times are those of the 20,000 of 28,000 messages that succeeded"
	run := screens()["overload"]
	if text := screenText(t, Options{Width: 120}, run); strings.Contains(text, "service times are those") {
		t.Errorf("all came through:\n%s", text)
	}
	run.Summary.Histograms[result.DeliveryResponse].Censored = 8000
	if text := screenText(t, Options{Width: 120}, run); !strings.Contains(text, want) {
		t.Errorf("no %q:\n%s", want, text)
	}
}

// Of an overload in which nothing came through there is no table.
func TestScreenWithoutFigures(t *testing.T) {
	run := screens()["overload"]
	delete(run.Summary.Histograms, result.DeliveryService)
	if text := screenText(t, Options{}, run); strings.Contains(text, "unstable") || strings.Contains(text, "95 % interval") || !strings.Contains(text, "response times are withheld") {
		t.Error(text)
	}
}

// No line is longer than the terminal, and a run of one workload takes no more than
// 30 at 80 columns, however much there is to say.
func TestScreenFits(t *testing.T) {
	all := screens()
	all["stall"], all["closed"] = stalledRun().make(), closedRun().make()
	all["cut"] = &result.Run{Header: result.Header{Driver: "nats"}}
	all["kept"], all["limited"] = keptRun(), limitedRun()
	for range 12 {
		all["slo"].Summary.Objectives = append(all["slo"].Summary.Objectives, result.Objective{Text: "lost == 0", Outcome: "met", Found: "there are none"})
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		run := all[name]
		for _, width := range []int{40, 50, 60, 80, 120, 200} {
			text := screenText(t, Options{Width: width, Page: strings.TrimSuffix(run.Path, "jsonl") + "html"}, run)
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			for _, l := range lines {
				if w := lipgloss.Width(l); w > width && !strings.Contains(l, "results/") {
					t.Errorf("%s, width %d: a line takes %d: %q", name, width, w, l)
				}
				if width >= 60 && strings.Contains(l, "results/") && lipgloss.Width(l) > width {
					t.Errorf("%s, width %d: a path takes %d: %q", name, width, lipgloss.Width(l), l)
				}
			}
			if len(lines) > screenLines && width >= 80 {
				t.Errorf("%s, width %d: %d lines:\n%s", name, width, len(lines), text)
			}
		}
	}
}
