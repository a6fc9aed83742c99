package fleetrun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// What one agent sends two others receive, as members of one group: over a real control plane the accounts are exact, and the
// merged result verifies and can be made again.
func TestAFleetWithRoles(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	const load = "version: 1\ntarget: {driver: mem, options: {delay: 2ms, ack: broker, lose_acked: 2, duplicate: 5, every: 20}}\n" +
		"workload: {rate: 600, producers: 2, topics: 1, consumers: 4, groups: 1}\nphases: {warmup: 200ms, duration: 2s, drain: 10s}\nrecord: {interval: 100ms}\n" +
		"fleet: {producers: {agents: agent-1}, consumers: {agents: 2}}\n"
	c, o, err := f.run(t.Context(), load, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := c.Result()
	n := run.Counters
	if ok, problem := n.Conserved(); !ok || !o.Complete() || n.Scheduled != 1200 || n.Sent != 1200 || n.Acked != 1200 || n.Received != 1198 || n.LostAcked+n.Undelivered != 2 || n.Duplicated != 5 {
		t.Errorf("%s %+v, %+v", problem, o.Ends, n)
	}
	if x := run.Metrics[result.DeliveryResponse]; x.Hist.Count() != n.Received+run.Closing.Twice || x.Censored.Count() != 2 || x.Min < int64(2*time.Millisecond) {
		t.Errorf("%d latencies from %d on, %d bounds", x.Hist.Count(), x.Min, x.Censored.Count())
	}
	for _, p := range judge.Verify(run, tool()) {
		t.Error(p)
	}
	if found, err := merge.Again(c.File, Sources(c.File, run.Header.Fleet)); err != nil || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
	f.idle()
}

// ahead is a stage of an agent whose clock is taken to be ahead by a second more than it is.
type ahead struct{ agent.Stage }

func (ahead) Shift(int64) (int64, bool) { return int64(time.Second), true }

type wrongClock struct{ Runner }

func (w *wrongClock) Run(ctx context.Context, p *agent.Plan, s agent.Stage) error {
	return w.Runner.Run(ctx, p, ahead{s})
}

// By how much a message arrived before it was sent, by clocks as they were estimated, is recorded, and the latencies are INVALID.
func TestAMessageArrivesBeforeItIsSent(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &wrongClock{Runner{Tool: tool()}})
	c, _, err := f.run(t.Context(), "version: 1\ntarget: {driver: mem}\nworkload: {rate: 200}\nphases: {warmup: 200ms, duration: 1s, drain: 10s}\n"+
		"fleet: {producers: {agents: agent-0}, consumers: {agents: agent-1}}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	run := c.Result()
	early, known := run.Series[len(run.Series)-1].Vitals[result.VitalDeliveryEarly]
	if !known || early <= 0 || early > 1e9 {
		t.Errorf("a message was early by %v ns, known %v", early, known)
	}
	for i := range run.Header.Fleet.Agents { // as if the clocks had been followed, and proved to differ by nothing
		run.Header.Fleet.Agents[i].Clock = &result.AgentClock{Proved: 1000, Expected: 100}
	}
	found := judge.Summarise(run, judge.InputsOf(run)).Verdict.Reasons
	if !slices.ContainsFunc(found, func(r result.Reason) bool {
		return r.Code == result.ReasonClocks && r.Status == result.Invalid && r.Metric == result.DeliveryResponse
	}) {
		t.Errorf("the reasons are %+v", found)
	}
}

// Agents get roles by name, label and number, and what cannot be is refused with what to do.
func TestRoles(t *testing.T) {
	zone := map[string]string{"zone": "b"}
	agents := []wire.Hello{{Name: "a", Clock: "c", Labels: zone}, {Name: "b", Clock: "c"}, {Name: "c", Clock: "c"}, {Name: "d", Clock: "c", Labels: zone}}
	s, err := scenario.Parse("test", []byte("workload: {rate: 600, producers: 3, topics: 3, consumers: 3}\nfleet: {producers: {agents: 2}, consumers: {agents: zone=b}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	segments, err := Divider{}.Divide(s, agents)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []result.Segment{{Role: "consumers", Part: 0, Parts: 2}, {Role: "producers", Part: 0, Parts: 2}, {Role: "producers", Part: 1, Parts: 2}, {Role: "consumers", Part: 1, Parts: 2}} {
		want.Index, want.Of = i, 4
		if got, err := segmentOf(segments[i]); err != nil || got != want {
			t.Errorf("agent %d is %+v, %v", i, got, err)
		}
	}
	for _, c := range []struct {
		producers, consumers string
		agents               []wire.Hello
		picked               int // 0: something is wanting
		want                 string
	}{
		{"a,b,c", "zone=b", agents, 4, "one role"},
		{"3", "zone=b", agents, 0, "only 2 have no other role"},
		{"1", "zone=b", agents, 3, "agent c has no role"},
		{"4", "1", agents, 0, "only 0 have no other role"},
		{"a", "m9", agents, 0, "agent m9, one of the consumers, is not there"},
		{"1", "zone=c", agents, 0, "no agent has the label zone=c"},
		{"1", "d", agents, 2, "agent b has no role"},
	} {
		if err := s.Apply(scenario.Override{Key: "fleet.producers.agents", Value: c.producers}, scenario.Override{Key: "fleet.consumers.agents", Value: c.consumers}); err != nil {
			t.Fatal(err)
		}
		if _, err := (Divider{}).Divide(s, c.agents); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: %v, want %q", c.producers, c.consumers, err, c.want)
		}
		picked, wanting := Picker(s)(c.agents)
		if (wanting == "") != (c.picked > 0) || wanting == "" && len(picked) != c.picked || wanting != "" && !strings.Contains(wanting, c.want) {
			t.Errorf("%s and %s: %d are picked, %q is wanting", c.producers, c.consumers, len(picked), wanting)
		}
	}
	for _, detail := range []string{"x", "{}", `{"index":1,"of":4,"role":"producers","parts":2}`, `{"of":4,"role":"producers","part":2,"parts":2}`, `{"of":4,"role":"both","parts":2}`, `{"of":4,"role":"producers","parts":5}`, `{"exec":1}`} {
		if g, err := segmentOf(wire.Segment{Of: 4, Detail: []byte(detail)}); err == nil {
			t.Errorf("%s is %+v", detail, g)
		}
	}
}
