package fleetrun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// noted is an act that is noted when it is done and undone.
type noted struct {
	done, undone *int
	fails        error
}

func (n noted) Do(_ context.Context, at int64) (int64, error) {
	*n.done++
	return clock.Now(), n.fails
}

func (n noted) Undo(context.Context) (int64, error) {
	*n.undone++
	return clock.Now(), nil
}

// What happens to more than the clients is carried out once, by the coordinator, and is in the merged result, which can be made
// again. It is in no agent's result, and agents do not miss it.
func TestActsOfTheCoordinator(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"done": nil, "failed": errors.New("no such node")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()}, &Runner{Tool: tool()})
			done, undone := 0, 0
			c, o, err := f.run(t.Context(), steady+"actions: [{at: 500ms, stall: {node: 0}, for: 300ms}, {at: 1s, pause: consumers, for: 100ms}]\n", func(config *coordinator.Config, c *Collector) {
				var err error
				if c.Acts, err = NewActs(config.Scenario, func(a *scenario.Act) (actions.Doer, error) {
					if a.Kind != scenario.ActionStall {
						t.Errorf("%s is not the coordinator's", a)
					}
					return noted{&done, &undone, fails}, nil
				}); err != nil {
					t.Fatal(err)
				}
				config.Acts = true
			})
			if err != nil || !o.Complete() {
				t.Fatalf("%+v, %v", o, err)
			}
			if done != 1 || undone != 1 {
				t.Errorf("it was done %d times, and undone %d times", done, undone)
			}
			run := c.Result()
			isSum(t, run, c.File)
			var kinds []result.EventKind
			for _, e := range run.Events {
				if e.Action == nil || e.Action.Number != 1 {
					continue
				}
				kinds = append(kinds, e.Kind)
				if e.Kind == result.EventAction && (e.At < int64(500*time.Millisecond) || e.Action.Planned != int64(500*time.Millisecond)) {
					t.Errorf("%+v, %+v", e, e.Action)
				}
			}
			want := []result.EventKind{result.EventAction, result.EventActionOver}
			if fails != nil {
				want = []result.EventKind{result.EventActionFailed}
			}
			if !slices.Equal(kinds, want) {
				t.Errorf("the events are %v", kinds)
			}
			undid := slices.ContainsFunc(run.Summary.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAction })
			if undid != (fails != nil) {
				t.Errorf("%v", run.Summary.Verdict.Reasons)
			}
			sources := Sources(c.File, run.Header.Fleet)
			for _, s := range sources {
				of, err := result.Load(s.Path)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(of.Events, func(e result.Event) bool { return e.Action != nil && e.Action.Number == 1 }) {
					t.Errorf("%s has events of it", s.Name)
				}
				for _, p := range judge.Verify(of, tool()) {
					t.Error(p)
				}
				for _, r := range of.Summary.Verdict.Reasons {
					if r.Code == result.ReasonAction {
						t.Errorf("%s misses it: %s", s.Name, r.Text)
					}
				}
			}
			if differences, err := merge.Again(c.File, sources); err != nil || len(differences) > 0 {
				t.Errorf("merged again: %q, %v", differences, err)
			}
			f.idle()
		})
	}
}

// held is a path with conditions, of which it counts how often they end.
type held struct{ ends *int }

func (held) Network() *result.Network { return &result.Network{Asked: result.Conditions{Delay: 7}} }

func (h held) End() (*result.Network, error) {
	*h.ends++
	return &result.Network{Asked: result.Conditions{Delay: 7}, Means: []result.NetworkMeans{{Packets: 3}}}, nil
}

// What the coordinator does happens to all workloads, each of which sees it at the instant of its own window. The conditions of
// the whole run's network are removed once, and what was counted is in the merged result, which can be made again.
func TestActsOfWorkloads(t *testing.T) {
	t.Parallel()
	const from = 300 * time.Millisecond
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	done, undone, ends := 0, 0, 0
	text := "version: 1\ntarget: {driver: mem}\nworkloads:\n  a: {rate: 200, producers: 2, topics: 2, consumers: 2}\n" +
		"  b: {rate: 200, producers: 2, topics: 2, consumers: 2, from: 300ms}\nphases: {warmup: 100ms, duration: 1s, drain: 5s}\n" +
		"actions: [{at: 500ms, stall: {node: 0}, for: 100ms}]\n"
	c, o, err := f.run(t.Context(), text, func(config *coordinator.Config, c *Collector) {
		var err error
		if c.Acts, err = NewActs(config.Scenario, func(*scenario.Act) (actions.Doer, error) { return noted{&done, &undone, nil}, nil }); err != nil {
			t.Fatal(err)
		}
		path := held{&ends}
		config.Acts, c.Path, c.Whole.Network = true, path, path.Network()
	})
	if err != nil || !o.Complete() || done != 1 || undone != 1 || ends != 1 {
		t.Fatalf("%+v, %v: done %d times, undone %d times, the network ended %d times", o, err, done, undone, ends)
	}
	for i, part := range c.Result().Parts() {
		planned := int64(500*time.Millisecond - time.Duration(i)*from)
		acted, passed := 0, 0
		for _, e := range part.Events {
			switch e.Kind {
			case result.EventAction:
				acted++
				if e.Action.Planned != planned || e.At < planned {
					t.Errorf("%s: %+v, planned at %d ns", part.Header.Workload, e, e.Action.Planned)
				}
			case result.EventNetwork:
				passed++
				if e.Network.Means[0].Packets != 3 {
					t.Errorf("%+v", e.Network)
				}
			}
		}
		if n := part.Header.Network; acted != 1 || passed != 1 || n == nil || n.Asked.Delay != 7 {
			t.Errorf("%s: %d actions, %d times the network's end, %+v", part.Header.Workload, acted, passed, n)
		}
	}
	if differences, err := merge.Again(c.File, Sources(c.File, c.Result().Header.Fleet)); err != nil || len(differences) > 0 {
		t.Errorf("merged again: %q, %v", differences, err)
	}
}

// An agent takes no plan with such acts from a coordinator that does not carry them out.
func TestActsOfNobody(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()})
	_, _, err := f.run(t.Context(), steady+"actions: [{at: 500ms, stall: {node: 0}, for: 300ms}]\n", nil)
	if !errors.Is(err, coordinator.ErrRefused) || !strings.Contains(err.Error(), "more than the clients") {
		t.Error(err)
	}
	if acts, err := NewActs(&scenario.Scenario{}, nil); acts != nil || err != nil {
		t.Errorf("%v, %v", acts, err)
	}
}
