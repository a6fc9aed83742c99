package cli

import (
	"cmp"

	"sixnines/driver"
	"sixnines/internal/faults"
	"sixnines/internal/network"
	"sixnines/scenario"
)

// networkOf returns where the broker of a scenario is, and with what its network gets conditions. That of a broker which is
// started for the run follows.
func (a *app) networkOf(s *scenario.Scenario, e driver.Entry) *faults.Network {
	return &faults.Network{URL: cmp.Or(s.Target.URL, e.DefaultURL), Command: a.self(network.Command), Journal: a.journal}
}

// networksPossible returns, for each act on the network, by which means it would be carried out and why not by better
// ones. The error says why one cannot be.
func networksPossible(s *scenario.Scenario, e driver.Entry) (all []string, err error) {
	n := &faults.Network{URL: s.Target.URL}
	for _, a := range scenario.OfKind(s.Acts(), scenario.ActionNetwork) {
		if withoutBroker(e) {
			return nil, placed(wrongUsage("choose a driver of a broker, such as nats", "%s: driver %s has no broker", a.Kind, e.Name), s, a.Key())
		}
		text, err := n.Preview(*a.Network)
		if err != nil {
			return nil, placed(wrongUsage("see docs/network.md for what each means needs", "%s: %w", a.Kind, err), s, a.Key())
		}
		all = append(all, text)
	}
	return all, nil
}
