package fleetrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/judge"
	"sixnines/internal/probe"
	"sixnines/result"
	"sixnines/scenario"
)

// probed is a load with an agent beside it.
const probed = "version: 1\ntarget: {driver: mem, options: {delay: 2ms}}\nworkload: {rate: 600, producers: 2, topics: 2, consumers: 2}\n" +
	"phases: {warmup: 200ms, duration: 3s, drain: 60s}\nrecord: {interval: 100ms}\nfleet: {probe: {agents: agent-1}}\n"

// bareRun merges the agents of a run again, without the probe, as if there had been none.
func bareRun(t *testing.T, c *Collector) *result.Run {
	t.Helper()
	sources := Sources(c.File, c.Result().Header.Fleet)
	run, err := merge.Files(filepath.Join(t.TempDir(), "bare.jsonl"), sources[:len(sources)-1], merge.Whole{Tool: tool()})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// An agent of three has no part in the load: the other two share all of it, and what the probe measured beside them in the window
// is one metric more. Everything else is as without it.
func TestAnAgentObserves(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	shown := false
	c, o, err := f.run(t.Context(), probed, func(_ *coordinator.Config, c *Collector) {
		c.Observe = func(p engine.Progress) { shown = shown || p.Asked == 600 }
	})
	if err != nil {
		t.Fatal(err)
	}
	run := c.Result()
	if n := run.Counters; !o.Complete() || n.Scheduled != 1800 || n.Received != 1800 || len(run.Header.Fleet.Agents) != 2 || !shown {
		t.Errorf("%+v, %+v, shown %v", o.Ends, n, shown)
	}
	if p := run.Header.Fleet.Probe; p == nil || p.Name != "agent-1" || p.Lost || p.ID == "" {
		t.Errorf("the probe is %+v", p)
	}
	vitals := run.Series[len(run.Series)-1].Vitals
	x, span := run.Metrics[result.ProbeService], time.Duration(vitals[result.VitalProbeSpan])
	if x == nil || x.Min < int64(2*time.Millisecond) || span < time.Second || span > 3*time.Second {
		t.Fatalf("the probe measured %+v in %v", x, span)
	}
	if n := x.Hist.Count(); n < int64(span.Seconds()*probe.Rate)/2 || float64(n) > vitals[result.VitalProbeSent] || vitals[result.VitalProbeMissing] != 0 {
		t.Errorf("the probe measured %d messages in %v, %v", n, span, vitals)
	}
	for _, p := range judge.Verify(run, tool()) {
		t.Error(p)
	}
	if found, err := merge.Again(c.File, Sources(c.File, run.Header.Fleet)); err != nil || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
	bare := bareRun(t, c)
	if bare.Counters != run.Counters || len(bare.Metrics) != len(run.Metrics)-1 {
		t.Errorf("without the probe %+v, with it %+v", bare.Counters, run.Counters)
	}
	for m, y := range bare.Metrics {
		if fmt.Sprint(buckets(y.Hist)) != fmt.Sprint(buckets(run.Metrics[m].Hist)) {
			t.Errorf("%s differs without the probe", m)
		}
	}

	// What the probe recorded is part of the result: a change shows.
	file := Sources(c.File, run.Header.Fleet)[2].Path
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `"min":`, `"min":1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := merge.Again(c.File, Sources(c.File, run.Header.Fleet)); err != nil || len(found) == 0 {
		t.Errorf("a changed result of the probe does not show: %q, %v", found, err)
	}
	f.idle()
}

// A probe that is lost is said in an event and in the header. The load is not less for it, and neither is its verdict.
func TestTheProbeIsLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &dying{Runner{Tool: tool()}, 2})
	c, o, err := f.run(t.Context(), probed, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := c.Result()
	if n := run.Counters; o.Complete() || n.Scheduled != 1800 || n.Received != 1800 || !run.Header.Fleet.Probe.Lost {
		t.Errorf("%+v, %+v, %+v", o.Ends, n, run.Header.Fleet.Probe)
	}
	if !slices.ContainsFunc(run.Events, func(e result.Event) bool { return e.Kind == result.EventProbe && e.Agent == "agent-1" }) {
		t.Errorf("no event says that the probe was lost: %+v", run.Events)
	}
	for _, r := range run.Summary.Verdict.Reasons {
		if r.Code == result.ReasonAgentLost || r.Code == result.ReasonProbe {
			t.Errorf("the verdict has %+v", r)
		}
	}
	if found, err := merge.Again(c.File, Sources(c.File, run.Header.Fleet)); err != nil || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
	for _, p := range judge.Verify(run, tool()) {
		t.Error(p)
	}
}

// The probe is one agent, beside at least one of the load.
func TestTheProbeIsOneAgent(t *testing.T) {
	zone := map[string]string{"zone": "b"}
	agents := []wire.Hello{{Name: "a", Labels: zone}, {Name: "b"}, {Name: "c"}, {Name: "d", Labels: zone}}
	for _, c := range []struct {
		fleet string
		there int
		roles string // of each agent: o is the probe, p and c are producers and consumers; empty: refused
		want  string
	}{
		{"{probe: {agents: 1}}", 4, "...o", ""},
		{"{probe: {agents: b}}", 4, ".o..", ""},
		{"{probe: {agents: zone=b}}", 3, "o..", ""},
		{"{probe: {agents: zone=b}}", 4, "", "both to be the probe"},
		{"{probe: {agents: 1}}", 1, "", "there is only one"},
		{"{probe: {agents: m9}}", 2, "", "m9"},
		{"{producers: {agents: 2}, consumers: {agents: d}, probe: {agents: 1}}", 4, "ppoc", ""},
		{"{producers: {agents: a}, consumers: {agents: a}}", 2, "", "one role"},
		{"{producers: {agents: a}, consumers: {agents: c}, probe: {agents: a}}", 3, "", "one role"},
	} {
		s, err := scenario.Parse("test", []byte("workload: {rate: 600, producers: 6, topics: 6, consumers: 6}\nfleet: "+c.fleet+"\n"))
		if err != nil {
			t.Fatal(c.fleet, err)
		}
		s.Normalise()
		segments, err := Divider{}.Divide(s, agents[:c.there])
		if c.roles == "" {
			if !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %d: %v, want %q", c.fleet, c.there, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s of %d: %v", c.fleet, c.there, err)
			continue
		}
		load, roles := 0, ""
		for i, w := range segments {
			g, err := segmentOf(w)
			if err != nil {
				t.Fatal(err)
			}
			roles += map[string]string{"": ".", result.RoleProbe: "o", result.RoleProducers: "p", result.RoleConsumers: "c"}[g.Role]
			if Beside(w) {
				if g.Index != c.there-1 || g.Of != c.there {
					t.Errorf("%s: the probe is %+v", c.fleet, g)
				}
				continue
			}
			if g.Index != load || g.Of != c.there-1 {
				t.Errorf("%s: agent %d is %+v", c.fleet, i, g)
			}
			load++
		}
		if roles != c.roles {
			t.Errorf("%s: the roles are %s, want %s", c.fleet, roles, c.roles)
		}
		if picked, wanting := Picker(s)(agents[:c.there]); len(picked) != c.there || wanting != "" {
			t.Errorf("%s: %d are picked, %q is wanting", c.fleet, len(picked), wanting)
		}
	}
	for _, detail := range []string{`{"index":1,"of":4,"role":"probe","parts":1}`, `{"index":3,"of":4,"role":"probe","parts":2}`, `{"index":3,"of":4,"role":"probe"}`} {
		if g, err := segmentOf(wire.Segment{Number: 3, Of: 4, Detail: []byte(detail)}); err == nil {
			t.Errorf("%s is %+v", detail, g)
		}
	}
}
