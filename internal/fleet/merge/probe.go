package merge

import (
	"fmt"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

// probed is the agent that measured beside a load. It belongs to the goroutine of the merger.
type probed struct {
	agent *agent
	lost  bool
	span  int64 // ns of the window that merged intervals cover
	last  int64 // when the last one ended, ns from the window's start
}

// withoutProbe takes the probe out of agents; nil without one.
func withoutProbe(agents []*agent) (load []*agent, p *probed, err error) {
	for _, a := range agents {
		switch {
		case a.segment().Role != result.RoleProbe:
			load = append(load, a)
		case p != nil:
			return nil, nil, fmt.Errorf("%s and %s are both of a probe: %w", p.agent.path, a.path, ErrDiffer)
		default:
			p = &probed{agent: a}
		}
	}
	return load, p, nil
}

// belongs reports, by an error that wraps ErrDiffer, a probe that was beside none of the loads. It may be called on nil.
func (p *probed) belongs(loads []*agent) error {
	if p == nil {
		return nil
	}
	h := p.agent.headers[0]
	for _, of := range loads[0].headers {
		if of.Workload == h.Workload && string(of.Scenario) == string(h.Scenario) && of.Tool == h.Tool && h.Segment.Of == len(loads)+1 {
			return nil
		}
	}
	return fmt.Errorf("%s, a probe's, is of another scenario, version or number of agents than %s: %w", p.agent.path, loads[0].path, ErrDiffer)
}

// of reports whether the probe was beside a workload. It may be called on nil.
func (p *probed) of(workload string) bool { return p != nil && p.agent.headers[0].Workload == workload }

// until adds what the probe measured up to an instant, ns from the window's start.
func (p *probed) until(end int64, s *sums) error {
	for v := p.agent.peek(); v != nil && v.End <= end; v = p.agent.peek() {
		if err := s.add(v); err != nil {
			return fmt.Errorf("%s: %w", p.agent.path, err)
		}
		p.span, p.last = p.span+v.End-v.Start, v.End
		if err := p.agent.next(); err != nil {
			return err
		}
	}
	return nil
}

// close reads the rest, which is of no window, and adds to the closing record's vitals what is known of the probe at the end.
func (p *probed) close(to map[result.Vital]float64) error {
	for p.agent.peek() != nil {
		if err := p.agent.next(); err != nil {
			return err
		}
	}
	if p.span == 0 {
		return nil
	}
	to[result.VitalProbeSpan] = float64(p.span)
	if c := p.agent.closing[0]; c != nil {
		for _, v := range []result.Vital{result.VitalProbeSent, result.VitalProbeMissing} {
			to[v] = c.Vitals[v]
		}
	}
	return nil
}

// describe is what the header says of the probe.
func (p *probed) describe() *result.FleetProbe {
	h := p.agent.headers[0]
	return &result.FleetProbe{Name: p.agent.name, Host: p.agent.host, ID: h.ID, Domain: h.Clock.Domain, Lost: p.lost}
}

// end is the event that the probe was lost, if it was. It may be called on nil.
func (p *probed) end() []result.Event {
	if p == nil || !p.lost {
		return nil
	}
	return []result.Event{{Workload: p.agent.headers[0].Workload, At: p.last, Kind: result.EventProbe, Agent: p.agent.name,
		Detail: "the agent of the probe was lost; it had measured for " + spell.Duration(p.span)}}
}

// isLost notes whether the probe's result has an end. It may be called on nil.
func (p *probed) isLost() error {
	if p == nil {
		return nil
	}
	e, err := p.agent.scan()
	if err != nil {
		return fmt.Errorf("%s: %w", p.agent.path, err)
	}
	p.lost = slices.Contains(e.closed, false)
	return nil
}
