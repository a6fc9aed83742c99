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

// Roles say which agents only send and which only receive.
type Roles struct{ Producers, Consumers Choice }

// Choice chooses agents: by name, by label, or a number of those that are not chosen in another way.
type Choice struct {
	Names []string
	// Label and Value are those of a label; empty: none.
	Label, Value string
	Count        int
}

// has reports whether the choice names an agent, or a label that it has.
func (c Choice) has(h *wire.Hello) bool {
	value, known := h.Labels[c.Label]
	return slices.Contains(c.Names, h.Name) || c.Label != "" && known && value == c.Value
}

// divide returns the segment of each agent. Errors wrap [ErrScenario].
func (r *Roles) divide(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	refuse := func(format string, v ...any) error {
		return fmt.Errorf("%w: %w", ErrScenario, fmt.Errorf(format, v...))
	}
	roles := make([]string, len(agents))
	for i := range agents {
		h := &agents[i]
		if h.Clock != agents[0].Clock {
			return nil, refuse("agents %s and %s have different clocks, so what one sends and the other receives has no known latency: use agents on one machine, or leave the roles out", agents[0].Name, h.Name)
		}
		sends, receives := r.Producers.has(h), r.Consumers.has(h)
		switch {
		case sends && receives:
			return nil, refuse("agent %s is among the producers and the consumers: an agent has one role", h.Name)
		case sends:
			roles[i] = result.RoleProducers
		case receives:
			roles[i] = result.RoleConsumers
		}
	}
	for _, c := range []struct {
		role string
		n    int
	}{{result.RoleProducers, r.Producers.Count}, {result.RoleConsumers, r.Consumers.Count}} {
		for n := range c.n {
			i := slices.Index(roles, "")
			if i < 0 {
				return nil, refuse("%d agents are to be %s, and only %d have no other role", c.n, c.role, n)
			}
			roles[i] = c.role
		}
	}
	if i := slices.Index(roles, ""); i >= 0 {
		return nil, refuse("agent %s has no role: name it, or leave it out", agents[i].Name)
	}
	parts := map[string]int{}
	for _, role := range roles {
		parts[role]++
	}
	for _, role := range []string{result.RoleProducers, result.RoleConsumers} {
		if parts[role] == 0 {
			return nil, refuse("no agent has the role %s", role)
		}
	}
	next := map[string]int{}
	var all []wire.Segment
	for i, role := range roles {
		g := result.Segment{Index: i, Of: len(agents), Role: role, Part: next[role], Parts: parts[role]}
		next[role]++
		for _, p := range s.Parts() {
			if _, _, err := shareOf(&p.Scenario.Workload, g); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrScenario, ofWorkload(p.Name, err))
			}
		}
		detail, err := json.Marshal(g)
		if err != nil {
			return nil, err
		}
		all = append(all, wire.Segment{Number: i, Of: len(agents), Detail: detail})
	}
	return all, nil
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
	if s.Index != g.Number || s.Of != g.Of || s.Role != result.RoleProducers && s.Role != result.RoleConsumers || s.Parts < 1 || s.Parts > s.Of || s.Part < 0 || s.Part >= s.Parts {
		return s, fmt.Errorf("the plan's segment contradicts itself: %+v", s)
	}
	return s, nil
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
	return &engine.Peers{Name: p.Run, First: g.Index == 0, Reach: func(ctx context.Context, at engine.Point) error {
		_, err := s.Reach(ctx, pointOf(at))
		return err
	}}
}
