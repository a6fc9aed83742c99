package agent

import (
	"errors"
	"fmt"
	"slices"

	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// accept makes a plan of what came from the coordinator, or says why not. It changes nothing.
func (a *agent) accept(p *wire.Plan) (*Plan, *wire.Answer) {
	values, err := a.values(p)
	if err != nil {
		return nil, refuse(wire.RefusedMalformed, err)
	}
	var foreign []string
	lookup := func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, true
		}
		if slices.Contains(a.Allow.Environment, name) && a.Lookup != nil {
			return a.Lookup(name)
		}
		foreign = append(foreign, name)
		return "", false
	}
	s, err := scenario.ParseClosed(lookup, "the plan", []byte(p.Scenario))
	if len(foreign) > 0 {
		return nil, refuse(wire.RefusedForbidden, fmt.Errorf("the plan reads the variable %.80s of this agent's environment, which its user does not allow (--allow env=%.80s)", foreign[0], foreign[0]))
	}
	if err != nil {
		if errors.Is(err, scenario.ErrFile) {
			return nil, refuse(wire.RefusedForbidden, err)
		}
		return nil, refuse(wire.RefusedInvalid, err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		return nil, refuse(wire.RefusedInvalid, err)
	}
	entry, ok := a.Drivers.Lookup(s.Target.Driver)
	if !ok {
		return nil, refuse(wire.RefusedInvalid, fmt.Errorf("this agent has no driver %q", s.Target.Driver))
	}
	if err := a.Allow.check(s, entry, p.Acts); err != nil {
		why := wire.RefusedInvalid
		if errors.As(err, new(forbidden)) {
			why = wire.RefusedForbidden
		}
		return nil, refuse(why, err)
	}
	plan := &Plan{Run: p.Run, Scenario: s, Entry: entry, Segment: p.Segment}
	load, err := a.Runner.Load(plan)
	if err != nil {
		return nil, refuse(wire.RefusedInvalid, err)
	}
	if err := a.Allow.checkLoad(load); err != nil {
		return nil, refuse(wire.RefusedForbidden, err)
	}
	return plan, nil
}

// values opens the sealed values of a plan's variables.
func (a *agent) values(p *wire.Plan) (map[string]string, error) {
	if len(p.Sealed) == 0 {
		return nil, nil
	}
	return wire.Open(a.curve, p.Sender, p.Sealed)
}

func refuse(why wire.Refusal, err error) *wire.Answer {
	return &wire.Answer{Refused: why, Why: wire.Line(err.Error())}
}

// refusal says what is wrong with a message that cannot be read.
func refusal(err error) *wire.Answer {
	if skew := (*wire.Skew)(nil); errors.As(err, &skew) {
		return refuse(wire.RefusedVersion, err)
	}
	return refuse(wire.RefusedMalformed, err)
}
