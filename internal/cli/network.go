package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/faults"
	"sixnines/internal/network"
	"sixnines/internal/relay"
	"sixnines/scenario"
)

// networkOf returns where the broker of a scenario is, and with what its network gets conditions. That of a broker which is
// started for the run follows.
func (a *app) networkOf(s *scenario.Scenario, e driver.Entry) *faults.Network {
	return &faults.Network{URL: cmp.Or(s.Target.URL, e.DefaultURL), Command: a.self(network.Command), Journal: a.journal, Unrelayed: a.unrelayed(s, e)}
}

// unrelayed says why the connections of a scenario's clients cannot go through a relay; empty: they can.
func (a *app) unrelayed(s *scenario.Scenario, e driver.Entry) string {
	if a.fleet != nil {
		return fleetUnrelayed
	}
	return unrelayed(s, e)
}

// fleetUnrelayed is why the connections of a fleet's clients cannot go through a relay.
const fleetUnrelayed = "the agents of a fleet connect by themselves"

// unrelayed says why the connections of a scenario cannot go through a relay; empty: they can.
func unrelayed(s *scenario.Scenario, e driver.Entry) string {
	if e.With(s.Target.Options).OwnsDialing {
		return "the client of driver " + e.Name + " makes its connections by itself, as it is set"
	}
	return ""
}

// startRelay starts the relay that the run of a scenario needs, and has the run's connections go through it. release ends it.
func (a *app) startRelay(ctx context.Context, t *faults.Target, s *scenario.Scenario, c *engine.Config) (release func(), err error) {
	if !t.NeedsRelay(ctx, s.Network, s.Acts()) {
		return func() {}, nil
	}
	r, err := relay.Start(a.self(relay.Command), s.Seed)
	if err != nil {
		return nil, failed("run it as root on Linux, where no relay is needed", err)
	}
	via := r.Via()
	t.Network.Relay, c.Via = r, &via
	return func() { _ = r.Close() }, nil
}

// networksPossible returns, for the network of the whole run and each act on the network, by which means it would be carried out and why not by better
// ones. The error says why one cannot be. unrelayed says why the clients' connections cannot go through a relay.
func networksPossible(s *scenario.Scenario, e driver.Entry, unrelayed string) (all []string, err error) {
	n := &faults.Network{URL: s.Target.URL, Unrelayed: unrelayed}
	_, ours, err := managedProduct(s, e)
	if err != nil {
		return nil, err
	}
	apart := 0
	if ours && s.Apart() {
		apart = max(1, s.Target.Nodes)
	}
	preview := func(asked scenario.Network, key string) error {
		if withoutBroker(e) {
			return placed(wrongUsage("choose a driver that has a broker, such as nats", "network: driver %s has no broker", e.Name), s, key)
		}
		text, err := n.Preview(asked, apart)
		if err != nil {
			return placed(wrongUsage("docs/network.md says what each mechanism needs", "network: %w", err), s, key)
		}
		all = append(all, text)
		return nil
	}
	if s.Network != nil {
		if err := preview(*s.Network, "network"); err != nil {
			return nil, err
		}
	}
	for _, a := range scenario.OfKind(s.Acts(), scenario.ActionNetwork) {
		if err := preview(*a.Network, a.Key()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// hold puts the network of a scenario's whole run into effect. release undoes it, if the run has not.
func (a *app) hold(ctx context.Context, t *faults.Target, s *scenario.Scenario, say func(string)) (held *faults.Held, release func(), err error) {
	path, err := t.Path(ctx, *s.Network)
	if err != nil {
		return nil, nil, placed(wrongUsage("docs/network.md says what each mechanism needs", "network: %w", err), s, "network")
	}
	if held, err = path.Hold(ctx); err != nil {
		return nil, nil, failed("sixnines doctor --clean removes the rest", fmt.Errorf("network conditions of the run: %w", err))
	}
	return held, func() {
		if _, err := held.End(); err != nil {
			say("the network conditions of the run could not be removed: " + oneLine(err.Error()) + "; sixnines doctor --clean removes them")
		}
	}, nil
}

// serveRelay is the process of a relay, whose argument is the seed.
func (env *Env) serveRelay(args []string) error {
	seed := uint64(0)
	if len(args) > 0 {
		var err error
		if seed, err = strconv.ParseUint(args[0], 10, 64); err != nil {
			return err
		}
	}
	return relay.Serve(env.Stdin, env.Stdout, seed)
}
