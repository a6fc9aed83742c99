package fleetrun

import (
	"errors"
	"fmt"

	"sixnines/internal/fleet/wire"
	"sixnines/internal/layout"
	"sixnines/scenario"
)

// ErrScenario is wrapped by errors about a scenario that a fleet cannot run.
var ErrScenario = errors.New("a fleet cannot run this")

// Check returns what of a normalised scenario no fleet can run, whoever the agents are, as an error that wraps
// [ErrScenario].
func Check(s *scenario.Scenario) error {
	refuse := func(format string, v ...any) error {
		return fmt.Errorf("%w: %w", ErrScenario, fmt.Errorf(format, v...))
	}
	switch {
	case !s.Phases.Until.IsZero():
		return refuse("the window of each agent would end by what it knows itself; give phases.duration instead of phases.until")
	case s.Record.Raw:
		return refuse("raw files would stay with the agents: leave record.raw out, and have single messages from a run on one machine")
	case s.Record.Probe == scenario.ProbeOn:
		return refuse("an agent has no probe in a process beside it: leave record.probe out, and have an agent of its own measure beside the load (--fleet-probe 1)")
	}
	return nil
}

// Divider divides scenarios as package layout does, by roles where the scenario gives the agents any. It implements coordinator.Divider.
type Divider struct{}

// Divide implements coordinator.Divider. Its errors wrap [ErrScenario].
func (Divider) Divide(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	if err := Check(s); err != nil {
		return nil, err
	}
	if s.Fleet != nil {
		return divideRoles(s, agents)
	}
	all := make([]wire.Segment, len(agents))
	for k := range all {
		for _, p := range s.Parts() {
			if _, _, err := layout.Divide(&p.Scenario.Workload, k, len(all)); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrScenario, ofWorkload(p.Name, err))
			}
		}
		all[k] = wire.Segment{Number: k, Of: len(all)}
	}
	return all, nil
}
