package coordinator_test

import (
	"errors"
	"testing"

	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// most divides between so many agents at most.
type most int

func (n most) Divide(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	if len(agents) > int(n) {
		return nil, errors.New("too many agents")
	}
	return evenly{}.Divide(s, agents)
}

// Agents that are there and not chosen have no part in the run, and did not join late.
func TestAgentsThatAreNotChosen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*coordinator.Config)
		agents int
	}{
		{"fewer are wanted", func(c *coordinator.Config) { c.Agents = 2 }, 2},
		{"one has another label", func(c *coordinator.Config) { c.Choose = func(h wire.Hello) bool { return h.Name != "c" } }, 2},
		{"the load is not for all", func(c *coordinator.Config) { c.Fewer, c.Divider = true, most(1) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t)
			all := stubs("a", "b", "c")
			js := f.joinAll(all)
			config := f.config(&collected{}, 0)
			tt.change(&config)
			o, err := coordinator.Run(t.Context(), config)
			if err != nil || !o.Complete() || len(o.Late) > 0 || len(o.Ends) != tt.agents || o.Started.Members[0].Segment.Of != tt.agents {
				t.Errorf("%+v, %v", o, err)
			}
			f.idle(js...)
		})
	}
}
