package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/nats"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// Each workload has its own messages, window, accounts and verdict, whichever
// sender it has; what one sends the others neither see nor wait for.
func TestSeveralWorkloads(t *testing.T) {
	b := startNATS(t)
	r := measure(t, `
workloads:
  events: {rate: 200/s, size: 64B, objectives: [lost == 0]}
  traffic: {rate: 2000/s, size: 1KiB, producers: 3, topics: 2, consumers: 2, background: true, from: 500ms, for: 800ms}
  users: {loop: closed, pattern: roundtrip, think: 2ms, from: 1s}
  bulk: {rate: max, pattern: publish, size: 4KiB, for: 300ms, background: true}
phases: {warmup: 300ms, duration: 2s}
`, nats.Entry(), b.URL)
	if len(r.Workloads) != 4 || r.Summary != nil {
		t.Fatalf("%d workloads", len(r.Workloads))
	}
	scenarios := map[string]bool{}
	for i, want := range []struct {
		name, mode   string
		scheduled    int64 // 0: not known
		from, window time.Duration
		background   bool
		size         int64
		latency      result.Metric
		objectives   int
	}{
		{"events", result.ModeOpen, 400, 0, 2 * time.Second, false, 64, result.DeliveryResponse, 1},
		{"traffic", result.ModeOpen, 1600, 500 * time.Millisecond, 800 * time.Millisecond, true, 1024, result.DeliveryResponse, 0},
		{"users", result.ModeClosed, 0, time.Second, time.Second, false, 256, result.RoundTripResponse, 0},
		{"bulk", result.ModeFlatOut, 0, 0, 300 * time.Millisecond, true, 4096, "", 0},
	} {
		p := r.Workloads[i]
		h, c := p.Header, p.Counters
		if h.Workload != want.name || h.Mode != want.mode || h.From != want.from || h.Window != want.window || h.Background != want.background || h.Size != want.size {
			t.Errorf("%s: %+v", want.name, h)
		}
		if p.Summary == nil || p.Summary.Workload != want.name || len(p.Summary.Objectives) != want.objectives {
			t.Fatalf("%s: summary %+v", want.name, p.Summary)
		}
		if c.Taken == 0 || c.Scheduled != c.Taken+c.NotSent || want.scheduled > 0 && c.Scheduled != want.scheduled || c.Missing+c.Foreign+c.Corrupted+c.Duplicated != 0 {
			t.Errorf("%s: %+v", want.name, c)
		}
		if want.latency != "" {
			if d := p.Summary.Histograms[want.latency]; d == nil || d.Count != c.Received || c.Received != c.Expected {
				t.Errorf("%s: %+v of %+v", want.name, d, c)
			}
		}
		for _, v := range p.Series {
			if v.Phase == result.PhaseMeasure && (v.Start < 0 || v.End > int64(want.window)) {
				t.Errorf("%s: an interval from %d to %d", want.name, v.Start, v.End)
			}
			if v.Phase == result.PhaseMeasure && len(v.Vitals) == 0 {
				t.Errorf("%s: an interval without vitals", want.name)
			}
		}
		if len(p.Series) == 0 || scenarios[string(h.Scenario)] {
			t.Errorf("%s: %d intervals, scenario %s", want.name, len(p.Series), h.Scenario)
		}
		scenarios[string(h.Scenario)] = true
	}
}

// A workload whose window has not begun when the run is interrupted has nothing to
// account for, and the others are judged as ever.
func TestInterruptBeforeAWorkloadBegins(t *testing.T) {
	b := startNATS(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := t.TempDir() + "/run.jsonl"
	r, err := Run(ctx, Config{Entry: nats.Entry(), URL: b.URL, File: file, Scenario: parse(t, `
workloads:
  live: {rate: 500/s}
  later: {rate: 500/s, from: 30s}
  users: {loop: closed, think: 2ms, from: 30s}
phases: {warmup: 0s, duration: 60s}
`), Observer: func(p Progress) {
		if p.Phase == result.PhaseMeasure {
			cancel()
		}
		if p.Phase == result.PhaseMeasure && p.Workload != "live" {
			t.Errorf("progress is that of %q", p.Workload)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r = judgetest.Verified(t, r, file)
	live, later, users := r.Workloads[0], r.Workloads[1], r.Workloads[2]
	if !live.Summary.Interrupted || live.Counters.Sent == 0 || live.Counters.Missing != 0 {
		t.Errorf("%s", show(live))
	}
	for _, p := range []*result.Run{later, users} {
		if c := p.Counters; c.Scheduled+c.Taken+c.NotSent != 0 || p.Summary.End != 0 {
			t.Errorf("%s: %+v to %d", p.Header.Workload, c, p.Summary.End)
		}
	}
}

// What is wrong with one of several workloads names it.
func TestErrorsNameTheWorkload(t *testing.T) {
	_, err := Run(t.Context(), Config{Entry: nats.Entry(), Scenario: parse(t, "workloads: {a: {}, b: {rate: 1/s, consumer: {ack: each}}}")})
	if err == nil || !strings.Contains(err.Error(), "workload b: ") {
		t.Errorf("%v", err)
	}
}
