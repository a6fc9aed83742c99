package fleetrun

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/internal/fleet/coordinator"
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
		"workload: {rate: 600, producers: 2, topics: 1, consumers: 4, groups: 1}\nphases: {warmup: 200ms, duration: 2s, drain: 1s}\nrecord: {interval: 100ms}\n"
	c, o, err := f.run(t.Context(), load, func(config *coordinator.Config, _ *Collector) {
		config.Divider = Divider{Roles: &Roles{Producers: Choice{Names: []string{"agent-1"}}, Consumers: Choice{Count: 2}}}
	})
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

// Agents get roles by name, label and number, and what cannot be is refused with what to do.
func TestRoles(t *testing.T) {
	agents := []wire.Hello{{Name: "a", Clock: "c", Labels: map[string]string{"zone": "b"}}, {Name: "b", Clock: "c"}, {Name: "c", Clock: "c"}, {Name: "d", Clock: "c", Labels: map[string]string{"zone": "b"}}}
	s, err := scenario.Parse("test", []byte("workload: {rate: 600, producers: 3, topics: 3, consumers: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	segments, err := Divider{Roles: &Roles{Producers: Choice{Count: 2}, Consumers: Choice{Label: "zone", Value: "b"}}}.Divide(s, agents)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []result.Segment{{Role: "consumers", Part: 0, Parts: 2}, {Role: "producers", Part: 0, Parts: 2}, {Role: "producers", Part: 1, Parts: 2}, {Role: "consumers", Part: 1, Parts: 2}} {
		want.Index, want.Of = i, 4
		if got, err := segmentOf(segments[i]); err != nil || got != want {
			t.Errorf("agent %d is %+v, %v", i, got, err)
		}
	}
	other := append([]wire.Hello(nil), agents...)
	other[2].Clock = "another"
	for _, c := range []struct {
		roles  Roles
		agents []wire.Hello
		want   string
	}{
		{Roles{Choice{Count: 2}, Choice{Label: "zone", Value: "b"}}, other, "different clocks"},
		{Roles{Choice{Names: []string{"a", "b", "c"}}, Choice{Label: "zone", Value: "b"}}, agents, "one role"},
		{Roles{Choice{Count: 3}, Choice{Label: "zone", Value: "b"}}, agents, "only 2 have no other role"},
		{Roles{Choice{Count: 1}, Choice{Label: "zone", Value: "b"}}, agents, "agent c has no role"},
		{Roles{Choice{Count: 4}, Choice{}}, agents, "no agent has the role consumers"},
	} {
		if _, err := (Divider{Roles: &c.roles}).Divide(s, c.agents); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.roles, err, c.want)
		}
	}
	for _, detail := range []string{"x", "{}", `{"index":1,"of":4,"role":"producers","parts":2}`, `{"of":4,"role":"producers","part":2,"parts":2}`, `{"of":4,"role":"both","parts":2}`, `{"of":4,"role":"producers","parts":5}`, `{"exec":1}`} {
		if g, err := segmentOf(wire.Segment{Of: 4, Detail: []byte(detail)}); err == nil {
			t.Errorf("%s is %+v", detail, g)
		}
	}
}
