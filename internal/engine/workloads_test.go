package engine

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/internal/engine/account"
	"sixnines/internal/engine/plan"
	"sixnines/result"
	"sixnines/scenario"
)

// Each workload has its own messages, window, accounts and verdict, whichever
// sender it has; what one sends the others neither see nor wait for.
func TestSeveralWorkloads(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	r := measure(t, `
workloads:
  events: {rate: 200/s, size: 64B, objectives: [lost == 0]}
  traffic: {rate: 2000/s, size: 1KiB, producers: 3, topics: 2, consumers: 2, background: true, from: 250ms, for: 400ms}
  users: {loop: closed, pattern: roundtrip, think: 2ms, from: 500ms}
  bulk: {rate: max, pattern: publish, size: 4KiB, for: 150ms, background: true}
phases: {warmup: 200ms, duration: 1s}
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
		{"events", result.ModeOpen, 200, 0, time.Second, false, 64, result.DeliveryResponse, 1},
		{"traffic", result.ModeOpen, 800, 250 * time.Millisecond, 400 * time.Millisecond, true, 1024, result.DeliveryResponse, 0},
		{"users", result.ModeClosed, 0, 500 * time.Millisecond, 500 * time.Millisecond, false, 256, result.RoundTripResponse, 0},
		{"bulk", result.ModeFlatOut, 0, 0, 150 * time.Millisecond, true, 4096, "", 0},
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
		var at int64
		for _, v := range p.Series {
			if v.Start < at || v.Start > at && v.Phase == result.PhaseMeasure {
				t.Errorf("%s: an interval from %d after one to %d", want.name, v.Start, at)
			}
			at = v.End
			if _, busy := v.Vitals[result.VitalPacerBusy]; busy && want.mode != result.ModeOpen {
				t.Errorf("%s: it has no pacers, and is told that one is busy", want.name)
			}
			if v.Phase == result.PhaseMeasure && (v.Start < 0 || v.End > int64(want.window)) {
				t.Errorf("%s: an interval from %d to %d", want.name, v.Start, v.End)
			}
			if v.Phase == result.PhaseMeasure && len(v.Vitals) == 0 {
				t.Errorf("%s: an interval without vitals", want.name)
			}
		}
		if last := p.Series[len(p.Series)-1]; last.Phase != result.PhaseClosing || last.Counters.Sent+last.Counters.Acked+last.Counters.Received != 0 {
			t.Errorf("%s: %+v are in no interval", want.name, last.Counters)
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
	var cancel context.CancelFunc
	r := inVirtualTime(t, Config{Entry: mem.Entry(), Scenario: parse(t, `
workloads:
  live: {rate: 500/s}
  later: {rate: 500/s, from: 30s}
  users: {loop: closed, think: 2ms, from: 30s}
phases: {warmup: 0s, duration: 60s}
`), Observer: func(p Progress) {
		if p.Phase == result.PhaseMeasure {
			cancel()
		}
		if p.Phase == result.PhaseMeasure && (len(p.Workloads) != 3 || p.Workloads[0].Workload != "live" || p.Workloads[0].Counters.Sent == 0 ||
			p.Workloads[1].Workload != "later" || p.Workloads[1].Begins == 0 || p.Workloads[1].Counters.Sent != 0) {
			t.Errorf("progress is %+v", p)
		}
	}}, func(ctx context.Context) context.Context {
		ctx, cancel = context.WithCancel(ctx)
		return ctx
	})
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

// An error in one of several workloads names the workload.
func TestErrorsNameTheWorkload(t *testing.T) {
	_, err := Run(t.Context(), Config{Entry: nats.Entry(), Scenario: parse(t, "workloads: {a: {}, b: {rate: 1/s, consumer: {ack: each}}}")})
	if err == nil || !strings.Contains(err.Error(), "workload b: ") {
		t.Errorf("%v", err)
	}
}

// A load's first interval begins with its window and holds what came since, pauses
// included, wherever the run's interval ends in which the window begins.
func TestFirstIntervalOfALaterWorkload(t *testing.T) {
	const ms = int64(time.Millisecond)
	later := func() *load {
		p := &plan.Plan{Control: plan.NewControl(plan.Settings{}, nil, nil), Part: scenario.Part{From: time.Second}}
		ld := &load{Plan: p, accounts: &account.Accounts{Plan: p}}
		ld.Start.Store(1000 * ms)
		ld.End.Store(2000 * ms)
		return ld
	}
	within := func(ld *load, runFrom, to, wantFrom, wantTo int64) {
		t.Helper()
		ok := ld.accounts.Within(runFrom, to)
		var from, until int64
		if ok {
			_, from, until = ld.accounts.Next(result.PhaseMeasure, to)
		}
		if ok != (wantTo > 0) || ok && (from != wantFrom || until != wantTo) {
			t.Errorf("%v: %d to %d, want %d to %d", ok, from, until, wantFrom, wantTo)
		}
	}
	ld := later()
	ld.accounts.KeepPauses([]result.Pause{{Start: 900 * ms, End: 999 * ms}, {Start: 990 * ms, End: 1003 * ms}})
	within(ld, 800*ms, 900*ms, 0, 0)
	within(ld, 900*ms, 1005*ms, 0, 0)
	ld.accounts.KeepPauses([]result.Pause{{Start: 1050 * ms, End: 1060 * ms}})
	within(ld, 1005*ms, 1100*ms, 1000*ms, 1100*ms)
	within(ld, 1100*ms, 2001*ms, 1100*ms, 2000*ms)
	if want := []result.Pause{{Start: -10 * ms, End: 3 * ms}, {Start: 50 * ms, End: 60 * ms}}; !slices.Equal(ld.accounts.Reported.Pauses, want) {
		t.Errorf("%v, want %v", ld.accounts.Reported.Pauses, want)
	}
	ended := later()
	ended.StopAll() // no interval follows
	within(ended, 900*ms, 1005*ms, 1000*ms, 1005*ms)
}

// While the warm-up lasts, the rates due and sent are those of the loads that warm up: not of a
// load that begins later, nor of an unpaced one, whose warm-up is over.
func TestWarmUpProgressOfSeveralWorkloads(t *testing.T) {
	var told atomic.Int64
	inVirtualTime(t, Config{Entry: mem.Entry(), Scenario: parse(t, `
target: {driver: mem, options: {delay: 300us, ack: broker, ack_delay: 1ms}}
workloads:
  events: {rate: 200/s}
  bulk: {rate: max, pattern: publish, in_flight: {messages: 100}, background: true, for: 50ms}
  later: {rate: 900/s, from: 100ms}
phases: {warmup: 500ms, duration: 200ms}
`), Observer: func(p Progress) {
		if p.Phase != "warm-up" {
			return
		}
		told.Add(1)
		if p.Asked != 200 || p.Sent > 20*p.Asked {
			t.Errorf("%v/s sent of %v/s", p.Sent, p.Asked)
		}
	}})
	if told.Load() == 0 {
		t.Error("nothing was told")
	}
}

// The progress of a load that is due in slices has its rate over the whole time, before, between
// and within its slices, whatever of them an interval has.
func TestProgressInSlices(t *testing.T) {
	for _, after := range []time.Duration{0, 500 * time.Millisecond} {
		var told, early atomic.Int64
		inVirtualTime(t, Config{Entry: mem.Entry(), Trial: &result.Trial{Slices: &result.Slices{On: 450 * time.Millisecond, Every: time.Second, After: after}},
			Scenario: parse(t, `
target: {driver: mem}
workload: {rate: 1000/s}
phases: {warmup: 1s, duration: 4s}
record: {interval: 100ms}
`), Observer: func(p Progress) {
				switch {
				case p.Phase == "warm-up" && p.Sent > 1.1*p.Asked:
					t.Errorf("after %v, warm-up at %v: %v/s sent of %v/s", after, p.Elapsed, p.Sent, p.Asked)
				case p.Phase != result.PhaseMeasure:
				case p.Counters.Scheduled == 0:
					early.Add(1)
				default:
					told.Add(1)
					if p.Sent < 0.9*p.Asked || p.Sent > 1.1*p.Asked {
						t.Errorf("after %v, at %v: %v/s sent of %v/s", after, p.Elapsed, p.Sent, p.Asked)
					}
				}
			}})
		if told.Load() < 30 || (early.Load() > 0) != (after > 0) {
			t.Errorf("after %v: told %d times, %d of them before the first slice", after, told.Load(), early.Load())
		}
	}
}
