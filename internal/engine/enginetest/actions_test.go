package enginetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/enginetest"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

const paced = "target: {driver: mem, options: {delay: 1ms}}\nrecord: {probe: off}\nphases: {warmup: 0s, duration: 2s}\n"

// actionEvents are those of the plan's actions.
func actionEvents(r *result.Run) (all []result.Event) {
	for _, e := range r.Events {
		if e.Action != nil {
			all = append(all, e)
		}
	}
	return all
}

// Pauses happen as often as planned and at their instants, and each has effects until its backlog is
// gone.
func TestPausesOfConsumers(t *testing.T) {
	r := enginetest.Verified(t, enginetest.Load{Scenario: paced + "workload: {rate: 1000/s, consumers: 2, groups: 1, consumer: {work: 100us}}\n" +
		"actions: [{at: 200ms, pause: consumers, for: 100ms}, {at: 900ms, pause: consumers, for: 300ms}]\n"})
	all := judge.Stretches(r, r.Summary.Costs)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for i, want := range [][2]time.Duration{{200 * time.Millisecond, 300 * time.Millisecond}, {900 * time.Millisecond, 1200 * time.Millisecond}} {
		s := all[i]
		if !s.Happened || s.From != int64(want[0]) || s.Over != int64(want[1]) || s.To <= s.Over || s.To > s.Over+int64(200*time.Millisecond) {
			t.Errorf("pause %d: %+v", i, s)
		}
	}
	if n := len(actionEvents(r)); n != 4 {
		t.Errorf("%d events of actions: %+v", n, r.Events)
	}
	// Of 300 ms at 1,000/s all messages wait but the one that each member has in hand.
	if k := r.Summary.Backlog; k == nil || k.From != int64(1200*time.Millisecond) || k.Peak < 290 || k.Peak > 302 || k.Gone != all[1].To {
		t.Errorf("%+v", k)
	}
	if longest := r.Metrics[result.DeliveryResponse].Max; longest < int64(299*time.Millisecond) || longest > int64(305*time.Millisecond) {
		t.Errorf("the slowest delivery took %s", time.Duration(longest))
	}
}

// Older keys and actions give the same run.
func TestSpellingsGiveTheSameRun(t *testing.T) {
	for _, c := range [][2]string{
		{"workload: {rate: 500/s, consumer: {pause: 300ms@500ms}}\n", "workload: {rate: 500/s}\nactions: [{at: 500ms, pause: consumers, for: 300ms}]\n"},
		{"workload: {rate: 500/s, consumer: {from: 700ms}}\n", "workload: {rate: 500/s}\nactions: [{at: 700ms, start: consumers}]\n"},
		{"workload: {rate: 500/s, consumer: {from: filled}}\n", "workload: {rate: 500/s}\nactions: [{at: filled, start: consumers}]\n"},
	} {
		old := enginetest.Verified(t, enginetest.Load{Scenario: paced + c[0]})
		now := enginetest.Verified(t, enginetest.Load{Scenario: paced + c[1]})
		if !slices.Equal(old.Header.Actions, now.Header.Actions) || old.Header.ConsumersFrom != now.Header.ConsumersFrom || old.Header.ConsumersPause != now.Header.ConsumersPause || old.Header.Stops != now.Header.Stops {
			t.Errorf("%s: the headers say %+v and %+v", c[1], old.Header.Actions, now.Header.Actions)
		}
		a, b := old.Metrics[result.DeliveryResponse], now.Metrics[result.DeliveryResponse]
		if old.Counters != now.Counters || a.Min != b.Min || a.Max != b.Max || old.Summary.Backlog.Gone != now.Summary.Backlog.Gone || old.Summary.Backlog.Peak != now.Summary.Backlog.Peak {
			t.Errorf("%s: %+v and %+v, %+v and %+v", c[1], old.Counters, now.Counters, old.Summary.Backlog, now.Summary.Backlog)
		}
		if len(actionEvents(old)) == 0 || len(actionEvents(old)) != len(actionEvents(now)) {
			t.Errorf("%s: %+v and %+v", c[1], old.Events, now.Events)
		}
	}
}

// Ctrl-C ends the window, and a pause with it.
func TestInterruptionUndoesActions(t *testing.T) {
	r := enginetest.Verified(t, enginetest.Load{Interrupt: 500 * time.Millisecond, Scenario: paced +
		"workload: {rate: 1000/s}\nactions: [{at: 200ms, pause: consumers, for: 1500ms}, {at: 1900ms, pause: consumers, for: 50ms}]\n"})
	all := judge.Stretches(r, r.Summary.Costs)
	end := r.Closing.End
	if !all[0].Happened || all[0].Over < end || all[0].Over > end+int64(time.Millisecond) || all[1].Happened {
		t.Errorf("the window ended at %d: %+v", end, all)
	}
	if c := r.Counters; c.Missing != 0 || c.Received != c.Sent {
		t.Errorf("%+v", c)
	}
}

// Producers that stop end the window of their load, and nothing follows it.
func TestStopOfProducers(t *testing.T) {
	r := enginetest.Verified(t, enginetest.Load{Scenario: "target: {driver: mem, options: {delay: 50ms}}\nrecord: {probe: off}\nphases: {warmup: 0s}\n" +
		"workload: {rate: 1000/s}\nactions: [{at: 400ms, stop: producers}]\n"})
	if n := r.Counters.Sent; n != 400 || r.Closing.End != int64(400*time.Millisecond) || !r.Header.Stops || r.Counters.Received != 400 {
		t.Errorf("%d were sent, the window ended at %d: %+v", n, r.Closing.End, r.Header)
	}
}

// In a run of several workloads a pause affects the workload that it names, by that workload's window.
func TestActionsOfWorkloads(t *testing.T) {
	r := enginetest.Verified(t, enginetest.Load{Scenario: "target: {driver: mem, options: {delay: 1ms}}\nphases: {warmup: 0s, duration: 2s}\nworkloads:\n" +
		"  live: {rate: 100/s}\n  bulk: {rate: 1000/s, from: 500ms}\nactions:\n  - {at: 900ms, pause: consumers, for: 300ms, workload: bulk}\n"})
	live, bulk := r.Part("live"), r.Part("bulk")
	if len(live.Header.Actions) != 0 || live.Summary.Backlog != nil {
		t.Errorf("%+v", live.Header.Actions)
	}
	if all := judge.Stretches(bulk, bulk.Summary.Costs); len(all) != 1 || all[0].From != int64(400*time.Millisecond) || all[0].Over != int64(700*time.Millisecond) || !all[0].Happened {
		t.Errorf("%+v", all)
	}
}

// An action that cannot happen makes the run INVALID: mem has no connections to cut.
func TestActionThatFails(t *testing.T) {
	dials := func(e *driver.Entry) { e.Capabilities.OwnsDialing = false }
	r := enginetest.Verified(t, enginetest.Load{Change: dials, Scenario: paced + "workload: {rate: 100/s}\nactions: [{at: 500ms, disconnect: all}]\n"})
	v := r.Summary.Verdict
	if i := slices.IndexFunc(v.Reasons, func(x result.Reason) bool { return x.Code == result.ReasonAction }); v.Status != result.Invalid || i < 0 || !strings.Contains(v.Reasons[i].Found, "disconnect: all") {
		t.Errorf("%s: %+v", v.Status, v.Reasons)
	}
}

// An action that cuts consumers has what the broker keeps read back.
func TestCutConsumersAreReadBack(t *testing.T) {
	dials := func(e *driver.Entry) { e.Capabilities.OwnsDialing = false }
	for whose, back := range map[string]bool{"consumers": true, "all": true, "producers": false} {
		r := enginetest.Verified(t, enginetest.Load{Change: dials, Scenario: `
target: {options: {ack: broker, delay: 1ms, keep: true, withhold: 3}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 1s, drain: 500ms}
actions: [{at: 500ms, disconnect: ` + whose + `}]
`})
		if b := r.ReadBack; (b != nil) != back || back && b.Kept != 3 {
			t.Errorf("%s: %+v", whose, b)
		}
	}
}

// handed does an act in the engine's place, and notes when.
type handed struct{ at, done, undone *time.Duration }

func (h handed) Do(_ context.Context, at int64) (int64, error) {
	*h.at, *h.done = time.Duration(at), time.Duration(clock.Now())
	return 0, nil
}

func (h handed) Undo(context.Context) (int64, error) {
	*h.undone = time.Duration(clock.Now())
	return 0, nil
}

// The caller may give the Doer of an act: the engine carries the act out as one of its own.
func TestDoerIsHandedIn(t *testing.T) {
	var at, done, undone time.Duration
	load := enginetest.Load{Scenario: paced + "workload: {rate: 100/s}\nactions: [{at: 500ms, pause: consumers, for: 200ms}]\n",
		Doer: func(a *scenario.Act) (actions.Doer, error) {
			if a.Kind != scenario.ActionPause || a.Subject != scenario.Consumers {
				t.Errorf("asked for %s", a)
			}
			return handed{&at, &done, &undone}, nil
		}}
	r := enginetest.Verified(t, load)
	if s := judge.Stretches(r, r.Summary.Costs)[0]; !s.Happened || s.From != int64(500*time.Millisecond) || s.Over != int64(700*time.Millisecond) || undone-at != 200*time.Millisecond || done != at {
		t.Errorf("%+v, planned for %s, done at %s, undone at %s", s, at, done, undone)
	}
	load.Doer = func(*scenario.Act) (actions.Doer, error) { return nil, errors.New("not today") }
	if _, err := enginetest.Run(t, load); err == nil || !errors.Is(err, engine.ErrUsage) || !strings.Contains(err.Error(), "the action {at: 500ms, pause: consumers, for: 200ms}: not today") {
		t.Error(err)
	}
}

// counted does an act of the run, and notes how often.
type counted struct{ done, undone *int }

func (c counted) Do(context.Context, int64) (int64, error) { *c.done++; return 0, nil }

func (c counted) Undo(context.Context) (int64, error) { *c.undone++; return 0, nil }

func (c counted) Describe(e *result.Event) { e.Action.Nodes = []int{2} }

// An act of the run is carried out once, and is in the plan and the records of each workload by that
// workload's clock, also of one that begins after it. The judge of each makes the same plan of its record.
func TestActsOfTheRun(t *testing.T) {
	for text, workloads := range map[string]int{
		"phases: {warmup: 0s, duration: 2s}\nworkload: {rate: 100/s}\n":                                                                                     1,
		"phases: {warmup: 0s, duration: 2s}\nworkloads:\n  live: {rate: 100/s}\n  bulk: {rate: 1000/s, from: 500ms}\n  late: {rate: 100/s, from: 1500ms}\n": 3,
	} {
		done, undone := 0, 0
		r := enginetest.Verified(t, enginetest.Load{Scenario: "target: {driver: mem, nodes: 3, options: {delay: 1ms}}\n" + text +
			"actions: [{at: 700ms, stall: {node: 2}, for: 200ms}, {at: 1800ms, pause: consumers, for: 50ms}]\n",
			Doer: func(a *scenario.Act) (actions.Doer, error) {
				if !a.Properties().Run {
					return nil, nil
				}
				return counted{&done, &undone}, nil
			}})
		if done != 1 || undone != 1 {
			t.Errorf("%d workloads: done %d times, undone %d times", workloads, done, undone)
		}
		parts := r.Parts()
		if len(parts) != workloads {
			t.Fatalf("%d parts", len(parts))
		}
		for _, part := range parts {
			from := int64(part.Header.From)
			all := judge.Stretches(part, part.Summary.Costs)
			if len(all) != 2 || all[0].From != int64(700*time.Millisecond)-from || all[0].Over != int64(900*time.Millisecond)-from || !all[0].Happened || all[0].Action.Subject != "node 2" {
				t.Errorf("%s, from %d: %+v", part.Header.Workload, from, all)
			}
			for _, e := range actionEvents(part) {
				if e.Workload == part.Header.Workload && e.Action.Number == 1 && !slices.Equal(e.Action.Nodes, []int{2}) {
					t.Errorf("%+v", e.Action)
				}
			}
		}
	}
}
