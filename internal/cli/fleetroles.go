package cli

import (
	"fmt"
	"strings"

	"sixnines/driver"
	"sixnines/internal/layout"
	"sixnines/internal/probe"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

// rolesPossible refuses roles of agents where no fleet is named, or where no message comes from one agent to another.
func (a *app) rolesPossible(s *scenario.Scenario, e driver.Entry) error {
	switch {
	case s.Fleet == nil:
	case a.fleet == nil:
		return placed(wrongUsage("name the control plane with --fleet URL, or leave fleet out to send and receive here", "fleet gives agents of a fleet roles, and no fleet is named"), s, "fleet")
	case e.InProcess:
		return placed(wrongUsage("choose a driver whose broker all agents can reach, or leave fleet out", "the broker of driver %s is within each agent, and no message comes from one agent to another", e.Name), s, "fleet")
	}
	return nil
}

// divisionOf says which agents have how many of the producers and consumers, as far as it is known without the agents. The error
// says why they cannot be divided so.
func divisionOf(s *scenario.Scenario) (lines []string, err error) {
	if s.Fleet.Probed() {
		who := "agent " + strings.Join(s.Fleet.Probe.Agents.Names, "")
		switch p := s.Fleet.Probe.Agents; {
		case p.Label != "":
			who = "the agent with " + p.String()
		case p.Count > 0:
			who = "one agent"
		}
		lines = append(lines, fmt.Sprintf("%s has no part in the load, and measures beside it at %s", who, spell.Rate(float64(probe.Rate))))
	}
	if !s.Fleet.Divided() {
		return lines, nil
	}
	w := &s.Workload
	for _, r := range []struct {
		role   layout.Role
		agents scenario.Agents
		all    string
	}{{layout.Producing, s.Fleet.Producers.Agents, plural(w.Producers, "producer")}, {layout.Consuming, s.Fleet.Consumers.Agents, plural(w.Consumers, "consumer")}} {
		n, who := max(r.agents.Count, len(r.agents.Names)), plural(r.agents.Count, "agent")
		switch {
		case r.agents.Label != "":
			lines = append(lines, fmt.Sprintf("those with %s share %s, and only these", r.agents, r.all))
			continue
		case r.agents.Count == 0:
			who = strings.Join(r.agents.Names, ", ")
		}
		var shares []string
		for k := range n {
			share, _, _, err := layout.DivideRole(w, r.role, k, n)
			if err != nil {
				return nil, &fault{exitUsage, err, scenarioHint}
			}
			shares = append(shares, grouped(int64(len(share.Producers)+len(share.Consumers))))
		}
		if n > mostShares {
			shares = append(shares[:mostShares], "…")
		}
		lines = append(lines, fmt.Sprintf("%s: %s of %s", who, strings.Join(shares, ", "), r.all))
	}
	return lines, nil
}

// mostShares is of how many agents a plan says how many producers they have.
const mostShares = 8
