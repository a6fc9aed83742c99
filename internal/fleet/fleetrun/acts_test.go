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
