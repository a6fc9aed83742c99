package fleetrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sixnines/internal/engine"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/layout"
	"sixnines/result"
	"sixnines/scenario"
)

// rolesOf returns the role of each agent; empty: it has none. wanting says what the roles still need, if they need anything. The
// error is that of an agent with two roles.
func rolesOf(f *scenario.Fleet, agents []wire.Hello) (roles []string, wanting string, err error) {
	roles = make([]string, len(agents))
	all := []struct {
		name string
		scenario.Agents
	}{{result.RoleProducers, f.Producers.Agents}, {result.RoleConsumers, f.Consumers.Agents}, {result.RoleProbe, f.Probe.Agents}}
	for i, h := range agents {
		for _, r := range all {
			switch {
			case !r.Has(h.Name, h.Labels):
			case r.name == result.RoleProbe && slices.Contains(roles, r.name):
				return nil, "", fmt.Errorf("agents %s and %s are both to be the probe: one agent measures beside the load", agents[slices.Index(roles, r.name)].Name, h.Name)
			case roles[i] != "":
				return nil, "", fmt.Errorf("agent %s is among the %s and the %s: an agent has one role", h.Name, roles[i], r.name)
			default:
				roles[i] = r.name
			}
		}
	}
	for _, r := range all {
		for _, name := range r.Names {
			if !slices.ContainsFunc(agents, func(h wire.Hello) bool { return h.Name == name }) {
				return roles, fmt.Sprintf("agent %s, one of the %s, is not there", name, r.name), nil
			}
		}
		if r.Label != "" && !slices.Contains(roles, r.name) {
			return roles, fmt.Sprintf("no agent has the label %s=%s of the %s", r.Label, r.Value, r.name), nil
		}
	}
	for _, r := range all {
		for n := range r.Count {
			i := slices.Index(roles, "")
			if r.name == result.RoleProbe { // the load keeps the first
				i = lastFree(roles)
			}
			if i < 0 {
				return roles, fmt.Sprintf("%d agents are to be %s, and only %d have no other role", r.Count, r.name, n), nil
			}
			roles[i] = r.name
		}
	}
	return roles, "", nil
}

// lastFree returns the last agent without a role; -1: each has one.
func lastFree(roles []string) int {
	for i := len(roles) - 1; i >= 0; i-- {
		if roles[i] == "" {
			return i
		}
	}
	return -1
}

// Picker returns what chooses the agents of a scenario among those that are there, see [coordinator.Config].Pick; nil: all
// take part.
func Picker(s *scenario.Scenario) func([]wire.Hello) ([]wire.Hello, string) {
	if s.Fleet == nil {
		return nil
	}
	return func(agents []wire.Hello) (picked []wire.Hello, wanting string) {
		roles, wanting, err := rolesOf(s.Fleet, agents)
		if err != nil || wanting != "" {
			return agents, wanting // dividing says what is wrong with two roles
		}
		for i, h := range agents {
			if roles[i] != "" || !s.Fleet.Divided() {
				picked = append(picked, h)
			}
		}
		if s.Fleet.Probed() && len(picked) == 1 {
			return agents, "the probe is an agent beside those of the load, and there is only one"
		}
		return picked, ""
	}
}

// divideRoles returns the segment of each agent of a scenario that gives them roles. Errors wrap [ErrScenario].
func divideRoles(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	refuse := func(format string, v ...any) error {
		return fmt.Errorf("%w: %w", ErrScenario, fmt.Errorf(format, v...))
	}
	roles, wanting, err := rolesOf(s.Fleet, agents)
	if err != nil {
		return nil, refuse("%w", err)
	}
	parts := map[string]int{}
	for _, role := range roles {
		parts[role]++
	}
	load := len(agents) - parts[result.RoleProbe]
	switch i := slices.Index(roles, ""); {
	case wanting != "":
	case load == 0:
		wanting = "the probe is an agent beside those of the load, and there is only one"
	case s.Fleet.Divided() && i >= 0:
		wanting = "agent " + agents[i].Name + " has no role"
	}
	if wanting != "" {
		return nil, refuse("%s", wanting)
	}
	next := map[string]int{}
	of := 0 // of the load
	var all []wire.Segment
	for _, role := range roles {
		g := result.Segment{Index: of, Of: load, Role: role, Part: next[role], Parts: parts[role]}
		next[role]++
		if role == result.RoleProbe {
			g.Index, g.Of = load, load+1
		} else {
			of++
			for _, p := range s.Parts() {
				if _, _, err := shareOf(&p.Scenario.Workload, g); err != nil {
					return nil, fmt.Errorf("%w: %w", ErrScenario, ofWorkload(p.Name, err))
				}
			}
		}
		segment, err := wireSegment(g)
		if err != nil {
			return nil, err
		}
		all = append(all, segment)
	}
	return all, nil
}

// wireSegment is a segment as it travels.
func wireSegment(g result.Segment) (wire.Segment, error) {
	s := wire.Segment{Number: g.Index, Of: g.Of}
	if g.Role == "" {
		return s, nil
	}
	var err error
	s.Detail, err = json.Marshal(g)
	return s, err
}

// segmentOf returns the segment of a plan. The error says what is wrong with its detail.
func segmentOf(g wire.Segment) (result.Segment, error) {
	s := result.Segment{Index: g.Number, Of: g.Of}
	if len(g.Detail) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(g.Detail))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("the plan's segment is not understood: %w", err)
	}
	known := s.Role == result.RoleProducers || s.Role == result.RoleConsumers || s.Role == result.RoleProbe && s.Parts == 1 && s.Index == s.Of-1
	if s.Index != g.Number || s.Of != g.Of || !known || s.Parts < 1 || s.Parts > s.Of || s.Part < 0 || s.Part >= s.Parts {
		return s, fmt.Errorf("the plan's segment contradicts itself: %+v", s)
	}
	return s, nil
}

// Beside reports whether the agent of a segment has no part in the load: it is the probe.
func Beside(g wire.Segment) bool {
	s, err := segmentOf(g)
	return err == nil && s.Role == result.RoleProbe
}

// shareOf returns what a segment has of a workload, and the workload that it runs then.
func shareOf(w *scenario.Workload, g result.Segment) (s layout.Share, local *scenario.Workload, err error) {
	if g.Role != "" {
		s, _, local, err = layout.DivideRole(w, layout.Role(g.Role), g.Part, g.Parts)
		return s, local, err
	}
	return layout.Divide(w, g.Index, g.Of)
}

// pointOf returns a point of the engine as the wire has it.
func pointOf(p engine.Point) wire.Point {
	switch p {
	case engine.PointProvisioned:
		return wire.Provisioned
	case engine.PointConnected:
		return wire.Connected
	case engine.PointArrived:
		return wire.Arrived
	}
	return wire.Closed
}

// peersOf returns the peers of an agent with a role; nil: it receives what it sends.
func peersOf(p *agent.Plan, g *result.Segment, s agent.Stage) *engine.Peers {
	if g.Role == "" {
		return nil
	}
	return &engine.Peers{Name: p.Run, First: g.Index == 0, Shift: s.Shift, Reach: func(ctx context.Context, at engine.Point) error {
		_, err := s.Reach(ctx, pointOf(at))
		return err
	}}
}
