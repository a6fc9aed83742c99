package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"sixnines/internal/judge"
	"sixnines/internal/layout"
	"sixnines/internal/schedule"
	"sixnines/result"
	"sixnines/scenario"
)

// header makes the header of a workload of the merged run.
func (m *merger) header(i int, ends []*ending) (*result.Header, error) {
	h := *m.agents[0].headers[i]
	for _, a := range m.agents {
		if a.segment().Role == result.RoleProducers { // which says how the broker refuses
			h = *a.headers[i]
			break
		}
	}
	if i == 0 {
		h.ID = fmt.Sprintf("%016x", rand.Uint64())
	} else {
		h.ID = m.loads[0].header.ID
	}
	h.Revision = m.whole.Revision
	h.Tool, h.Segment, h.Raw, h.Trial, h.Floor, h.Limit = m.whole.Tool, nil, "", m.whole.Trial, nil, nil
	h.Managed, h.Deployment, h.Network = m.whole.Managed, m.whole.Deployment, m.whole.Network
	if i < len(m.whole.Scenarios) {
		h.Scenario = m.whole.Scenarios[i]
	}
	h.Fleet, h.Clock.Shifted, h.Clock.Service = &result.Fleet{}, false, nil // each machine has its own
	var facts [][]result.Fact
	var all []*result.Header
	h.Rate = 0
	for j, a := range m.agents {
		x := a.headers[i]
		all = append(all, x)
		if len(x.Machine) > 0 { // an agent that was lost before it began has none
			facts = append(facts, x.Machine)
		}
		h.SameHost = h.SameHost || x.SameHost
		h.Clock.Bracket, h.Clock.ReadNs = max(h.Clock.Bracket, x.Clock.Bracket), max(h.Clock.ReadNs, x.Clock.ReadNs)
		if x.Clock.Domain != h.Clock.Domain {
			h.Clock.Domain = ""
		}
		if x.Started.Before(h.Started) {
			h.Started = x.Started
		}
		h.SetupTimes = slower(h.SetupTimes, x.SetupTimes)
		h.Fleet.Agents = append(h.Fleet.Agents, agentOf(a, x, ends[j], i))
		h.Fleet.Agents[j].Clock, h.Fleet.Agents[j].Start = m.whole.Clocks[a.name], m.whole.Starts[a.name]
	}
	if m.probe != nil {
		h.Fleet.Probe = m.probe.describe()
	}
	h.Machine = common(facts)
	describe(&h, all)
	s, plan, err := planOf(&h)
	if err != nil {
		return nil, err
	}
	if plan != nil {
		h.Rate = plan.MeanRate()
	}
	if s.Fleet != nil && s.Fleet.Bound == scenario.BoundExpected {
		h.Fleet.Bound = result.BoundExpected
	}
	h.Pattern = string(s.Workload.Pattern)
	if s.Workload.Messages == 0 {
		h.Window = s.Phases.Longest()
	}
	return &h, nil
}

// planOf returns the scenario of a header and its schedule; nil: it has none.
func planOf(h *result.Header) (*scenario.Scenario, *schedule.Plan, error) {
	s, err := scenario.FromRecord("header", h.Scenario)
	if err != nil {
		return nil, nil, fmt.Errorf("the scenario of the results: %w", err)
	}
	s.Normalise()
	if h.Mode != result.ModeOpen {
		return s, nil, nil
	}
	p, err := schedule.New(&s.Workload, s.Phases.Longest(), s.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("the schedule of the results: %w", err)
	}
	return s, p, nil
}

// partOf returns what a segment has of a scenario's schedule.
func partOf(s *scenario.Scenario, p *schedule.Plan, g result.Segment) (*schedule.Plan, layout.Share, error) {
	share, err := judge.ShareOf(&s.Workload, g)
	if err != nil {
		return nil, share, err
	}
	return p.Of(share.Producers), share, nil
}

// slower returns, for each name, the longer of two durations.
func slower(a, b []result.SetupTime) []result.SetupTime {
	all := slices.Clone(a)
	for _, x := range b {
		i := slices.IndexFunc(all, func(y result.SetupTime) bool { return y.Name == x.Name })
		if i < 0 {
			all = append(all, x)
		} else {
			all[i].Duration = max(all[i].Duration, x.Duration)
		}
	}
	return all
}

// agentOf describes an agent by its own result.
func agentOf(a *agent, h *result.Header, e *ending, load int) result.Agent {
	run := e.runs[load]
	x := result.Agent{Name: a.name, Host: a.host, ID: h.ID, Segment: *h.Segment, Domain: h.Clock.Domain, Service: h.Clock.Service, Started: h.Started, Lost: !e.closed[load],
		End: int64(h.Window), Sent: run.Counters.Sent}
	if c := run.Closing; c != nil {
		x.End = c.End
	}
	if v := e.verdicts[load]; v != nil {
		x.Status = v.Status
		for _, r := range v.Reasons {
			if !slices.Contains(x.Codes, r.Code) {
				x.Codes = append(x.Codes, r.Code)
			}
		}
		if seal := run.Summary.Seal; seal != nil {
			x.SHA256 = seal.SHA256
		}
	}
	x.Latencies = e.latencies[load]
	return x
}
