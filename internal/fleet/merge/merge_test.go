package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/engine/enginetest"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// loads are scenarios that can be divided, of which each agent gets the same share of faults.
func loads() map[string]string {
	const target = "version: 1\ntarget: {driver: mem, options: {delay: 3ms, ack: broker, ack_delay: 1ms%s}}\n"
	const phases = "phases: {warmup: 200ms, duration: 3s, drain: 1s}\nrecord: {interval: 100ms}\n"
	text := func(options, workload string) string { return fmt.Sprintf(target, options) + workload + phases }
	return map[string]string{
		"short intervals": strings.Replace(text("", "workload: {rate: 2k, producers: 6, topics: 6, consumers: 6}\n"), "interval: 100ms", "interval: 5ms", 1),
		"long intervals":  strings.Replace(text(", jitter: 2ms", "workload: {rate: 2k, producers: 6, topics: 6, consumers: 6}\n"), "interval: 100ms", "interval: 2s", 1),
		"constant":        text("", "workload: {rate: 1k, producers: 6, topics: 6, consumers: 6}\n"),
		"poisson":         text(", jitter: 2ms", "workload: {rate: 1k, arrivals: poisson, producers: 6, topics: 3, consumers: 3}\n"),
		"groups":          text("", "workload: {rate: 700, producers: 6, topics: 3, consumers: 6, groups: 2}\n"),
		"fan-out":         text(", jitter: 1ms", "workload: {rate: 500, producers: 3, topics: 3, consumers: 9}\n"),
		"losses":          text(", lose: 3, lose_acked: 2, duplicate: 4, reorder: 3, every: 7, give_up: 500ms", "workload: {rate: 1k, producers: 3, topics: 3, consumers: 3, timeout: 600ms}\n"),
		"refusals":        text(", reject: 2, nack: 3, every: 11", "workload: {rate: 900, producers: 6, topics: 3, consumers: 3, timeout: 600ms}\n"),
		"many":            text(", jitter: 2ms", "workload: {rate: 4k, producers: 48, topics: 24, consumers: 48}\n"),
		"uneven":          text("", "workload: {rate: 1k, producers: 7, topics: 7, consumers: 7}\n"),
		"closed":          text("", "workload: {loop: closed, outstanding: 2, producers: 3, topics: 3, consumers: 3}\n"),
		"several": fmt.Sprintf(target, "") + "workloads:\n  a: {rate: 500, producers: 3, topics: 3, consumers: 3}\n" +
			"  b: {rate: 300, producers: 3, topics: 3, consumers: 3, from: 500ms, for: 1s}\n" + phases,
	}
}

const agents = 3

// segments runs a scenario in segments, and returns their results and files.
func segments(t *testing.T, text string, change func(k int, l *enginetest.Load)) (runs []*result.Run, sources []merge.Source) {
	t.Helper()
	dir := t.TempDir()
	for k := range agents {
		l := enginetest.Load{Scenario: text, File: filepath.Join(dir, fmt.Sprintf("%d.jsonl", k)), Segment: &result.Segment{Index: k, Of: agents}}
		if change != nil {
			change(k, &l)
		}
		if _, err := enginetest.Run(t, l); err != nil && !(l.Abort > 0 && errors.Is(err, engine.ErrAborted)) {
			t.Fatal(err)
		}
		run, err := result.Load(l.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range run.Parts() {
			for _, p := range judge.Verify(part, part.Header.Tool) {
				t.Errorf("agent %d: %s", k, p)
			}
		}
		runs, sources = append(runs, run), append(sources, merge.Source{Name: fmt.Sprintf("agent-%d", k), Path: l.File})
	}
	return runs, sources
}

func merged(t *testing.T, sources []merge.Source) *result.Run {
	t.Helper()
	run, err := merge.Files(filepath.Join(t.TempDir(), "merged.jsonl"), sources, merge.Whole{Tool: result.Tool{Name: "sixnines", Version: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range run.Parts() {
		for _, p := range judge.Verify(part, part.Header.Tool) {
			t.Errorf("merged, workload %q: %s", part.Header.Workload, p)
		}
	}
	return run
}

// A merged result can be made again from the agents' results, and what was changed in either is found.
func TestMergedAgain(t *testing.T) {
	for _, name := range []string{"poisson", "several"} {
		t.Run(name, func(t *testing.T) {
			_, sources := segments(t, loads()[name], nil)
			file := merged(t, sources).Path
			if found, err := merge.Again(file, sources); err != nil || len(found) > 0 {
				t.Errorf("%q, %v", found, err)
			}
			for _, change := range []struct{ file, from, to string }{
				{file, `"sent":`, `"sent":1`},
				{file, `"rate":`, `"rate":1`},
				{sources[1].Path, `"phase":"measure"`, `"phase":"drain"`},
			} {
				text, err := os.ReadFile(change.file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(change.file, bytes.Replace(text, []byte(change.from), []byte(change.to), 1), 0o600); err != nil {
					t.Fatal(err)
				}
				if found, err := merge.Again(file, sources); err == nil && len(found) == 0 {
					t.Errorf("%s became %s, and nothing was found", change.from, change.to)
				}
				if err := os.WriteFile(change.file, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// buckets returns a histogram's counts.
func buckets(h *result.Histogram) map[int64]int64 {
	all := map[int64]int64{}
	if h.Count() > 0 {
		h.Buckets(func(_, high, n int64) { all[high] += n })
	}
	return all
}

// The merged result is, count for count and bucket for bucket, what the agents recorded, and it verifies.
func TestMergedIsTheSum(t *testing.T) {
	for name, text := range loads() {
		t.Run(name, func(t *testing.T) {
			runs, sources := segments(t, text, nil)
			slices.Reverse(sources) // their order does not matter
			run := merged(t, sources)
			for i, part := range run.Parts() {
				var counters result.Counters
				want := map[result.Metric]map[int64]int64{}
				censored := map[result.Metric]int64{}
				for _, r := range runs {
					of := r.Parts()[i]
					counters.Add(of.Counters)
					for m, x := range of.Metrics {
						if want[m] == nil {
							want[m] = map[int64]int64{}
						}
						for b, n := range buckets(x.Hist) {
							want[m][b] += n
						}
						censored[m] += x.Censored.Count()
					}
				}
				if part.Counters != counters {
					t.Errorf("the counters are\n%+v, and of the agents\n%+v", part.Counters, counters)
				}
				for m := range want {
					if got := buckets(part.Metrics[m].Hist); fmt.Sprint(got) != fmt.Sprint(want[m]) {
						t.Errorf("%s: the buckets are\n%v, and of the agents\n%v", m, got, want[m])
					}
					if got := part.Metrics[m].Censored.Count(); got != censored[m] {
						t.Errorf("%s: %d lower bounds, and of the agents %d", m, got, censored[m])
					}
				}
				if n := len(part.Header.Fleet.Agents); n != agents || part.Header.Segment != nil {
					t.Errorf("the header has %d agents, segment %v", n, part.Header.Segment)
				}
				for k, a := range part.Header.Fleet.Agents {
					if a.Name != fmt.Sprintf("agent-%d", k) || a.Sent != runs[k].Parts()[i].Counters.Sent || a.Status == "" {
						t.Errorf("agent %d is described by %+v", k, a)
					}
				}
			}
		})
	}
}

// Three agents send the same messages at the same instants as one process: where each message takes as long, the
// results agree in all accounts and distributions.
func TestAgentsAreTheWhole(t *testing.T) {
	for _, name := range []string{"constant", "groups", "uneven"} {
		t.Run(name, func(t *testing.T) {
			text := loads()[name]
			whole := enginetest.Verified(t, enginetest.Load{Scenario: text})
			_, sources := segments(t, text, nil)
			run := merged(t, sources)
			if run.Counters != whole.Counters {
				t.Errorf("the counters of agents are\n%+v, of one process\n%+v", run.Counters, whole.Counters)
			}
			for m, x := range whole.Metrics {
				if m.IsLatency() && fmt.Sprint(buckets(run.Metrics[m].Hist)) != fmt.Sprint(buckets(x.Hist)) {
					t.Errorf("%s: of agents %v, of one process %v", m, buckets(run.Metrics[m].Hist), buckets(x.Hist))
				}
			}
			if run.Header.Rate != whole.Header.Rate || run.Summary.Verdict.Status != whole.Summary.Verdict.Status {
				t.Errorf("rate %v and %s, of one process %v and %s", run.Header.Rate, run.Summary.Verdict, whole.Header.Rate, whole.Summary.Verdict)
			}
		})
	}
}

// Of an agent whose file ends in mid-run the whole schedule is accounted for: what it did not send from then on is
// not sent, and what nobody saw the end of is a lower bound.
func TestALostAgentIsAccountedFor(t *testing.T) {
	for _, name := range []string{"constant", "poisson", "groups", "fan-out", "closed"} {
		t.Run(name, func(t *testing.T) {
			_, sources := segments(t, loads()[name], nil)
			cut(t, sources[1].Path, 12)
			countAhead(t, sources[1].Path)
			run := merged(t, sources)
			a := run.Header.Fleet.Agents[1]
			if !a.Lost || a.Status != "" {
				t.Errorf("the agent is described by %+v", a)
			}
			c := run.Counters
			if ok, problem := c.Conserved(); !ok {
				t.Error(problem)
			}
			if run.Header.Rate > 0 && c.NotSent == 0 {
				t.Errorf("nothing counts as not sent: %+v", c)
			}
			x := run.Metrics[result.DeliveryResponse]
			if expected := c.Expected + c.NotSent*c.Expected/max(1, c.Sent); run.Header.Rate > 0 && x.Hist.Count()+x.Censored.Count() < expected*99/100 {
				t.Errorf("%d latencies and %d lower bounds for %d deliveries", x.Hist.Count(), x.Censored.Count(), expected)
			}
			v := run.Summary.Verdict
			if v.Status == result.Valid || !slices.ContainsFunc(v.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAgentLost }) {
				t.Errorf("the verdict is %s: %+v", v, v.Reasons)
			}
			notMet(t, run, "lost == 0", "delivery.response p99 < 10m", "rate >= 99%")
		})
	}
}

// notMet fails for objectives that a run meets although a part of it is missing.
func notMet(t *testing.T, run *result.Run, objectives ...string) {
	t.Helper()
	for _, text := range objectives {
		o, err := scenario.ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := judge.Decide(run, o); d.Outcome == judge.Met {
			t.Errorf("%s is met: %s", text, d.Text)
		}
	}
}

// cut leaves so many lines of a file.
func cut(t *testing.T, path string, lines int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	if len(all) <= lines {
		t.Fatalf("%s has %d lines", path, len(all))
	}
	if err := os.WriteFile(path, bytes.Join(all[:lines], nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// countAhead has the last record of a file count an answer and a delivery that it has no times of.
func countAhead(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSpace(text), '\n') + 1
	number := regexp.MustCompile(`("acked":|"received":|"bytes_received":)(\d+)`)
	line := number.ReplaceAllFunc(text[last:], func(field []byte) []byte {
		at := bytes.IndexByte(field, ':') + 1
		n, err := strconv.Atoi(string(field[at:]))
		if err != nil {
			t.Fatal(err)
		}
		more := 1
		if bytes.HasPrefix(field, []byte(`"bytes`)) {
			more = 256 // the size of a message
		}
		return strconv.AppendInt(field[:at:at], int64(n+more), 10)
	})
	if bytes.Equal(line, text[last:]) {
		t.Fatalf("nothing is counted in %s", line)
	}
	if err := os.WriteFile(path, append(text[:last:last], line...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Results that do not belong together are refused, and nothing is left.
func TestMergeRefuses(t *testing.T) {
	_, sources := segments(t, loads()["constant"], nil)
	_, others := segments(t, strings.Replace(loads()["constant"], "rate: 1k", "rate: 900", 1), nil)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	enginetest.Verified(t, enginetest.Load{Scenario: loads()["constant"], File: whole})
	for name, c := range map[string]struct {
		sources []merge.Source
		want    string
	}{
		"none":               {nil, "no agent"},
		"one is missing":     {sources[:2], "there are 2 results"},
		"one is there twice": {[]merge.Source{sources[0], sources[1], sources[1]}, "there twice"},
		"another scenario":   {[]merge.Source{sources[0], sources[1], others[2]}, "their scenario"},
		"a whole run":        {[]merge.Source{{Name: "whole", Path: whole}}, "a whole run"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "merged.jsonl")
			_, err := merge.Files(out, c.sources, merge.Whole{})
			if !errors.Is(err, merge.ErrDiffer) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Stat(out); !os.IsNotExist(err) {
				t.Errorf("a file was left: %v", err)
			}
		})
	}
}

// The windows of agents need not end together, and their intervals not at the same instants: the merged intervals follow
// each other all the same, and no more is sent in them than was due.
func TestWindowsEndApart(t *testing.T) {
	text := strings.Replace(loads()["poisson"], "phases: {warmup: 200ms, duration: 3s, drain: 1s}\nrecord: {interval: 100ms}", "phases: {warmup: 200ms, duration: 60s, drain: 1s}\nrecord: {interval: 1s}", 1)
	for name, ends := range map[string][agents]time.Duration{
		"in one interval":   {5100 * time.Millisecond, 5200 * time.Millisecond, 5150 * time.Millisecond},
		"in several":        {5900 * time.Millisecond, 6020 * time.Millisecond, 7450 * time.Millisecond},
		"one goes on":       {3500 * time.Millisecond, 0, 3300 * time.Millisecond},
		"one stops at once": {5100 * time.Millisecond, -5300 * time.Millisecond, 5450 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			_, sources := segments(t, text, func(k int, l *enginetest.Load) {
				if l.Interrupt = ends[k]; ends[k] < 0 {
					l.Interrupt, l.Abort = 0, -ends[k]
				}
			})
			run := merged(t, sources) // which verifies it
			last, notSent := run.Closing.End, int64(0)
			for _, a := range run.Header.Fleet.Agents {
				if a.Unfinished(last) {
					notSent += (last - a.End) * 1000 / agents / 1e9
				}
			}
			if got := run.Counters.NotSent; got < notSent*8/10 || got > notSent*12/10+10 { // what is due when a run is aborted is not sent, too
				t.Errorf("%d not sent, want about %d", got, notSent)
			}
			if found := slices.ContainsFunc(run.Summary.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAgentLost }); found != (notSent > 0) {
				t.Errorf("%d not sent: %+v", notSent, run.Summary.Verdict)
			}
			if notSent > 0 {
				notMet(t, run, "rate >= 99%")
			}
		})
	}
}

// Of a lost agent it is not known which its slowest messages were, though the slowest of all may be among them.
func TestALostAgentWasTheSlowest(t *testing.T) {
	_, sources := segments(t, loads()["constant"], func(k int, l *enginetest.Load) {
		if k == 1 {
			l.Scenario = strings.Replace(l.Scenario, "delay: 3ms", "delay: 30ms", 1)
		}
	})
	for _, s := range sources { // the same scenario but for the delay
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Path, bytes.ReplaceAll(text, []byte("30ms"), []byte("3ms")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cut(t, sources[1].Path, 12)
	if run := merged(t, sources); run.Metrics[result.DeliveryResponse].Max < 30e6 {
		t.Errorf("the slowest took %d ns", run.Metrics[result.DeliveryResponse].Max)
	}
}
