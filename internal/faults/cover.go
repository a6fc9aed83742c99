package faults

import (
	"net/netip"
	"slices"

	"sixnines/internal/network"
)

// Connected notes how to learn to which addresses the run's clients have connected, and has the conditions of the whole run
// hold for them. It is an engine.Config.Connected.
func (t *Target) Connected(ends func() []netip.AddrPort) {
	t.Network.ends.Store(&ends)
	if h := t.Network.held; h != nil {
		h.follow()
	}
}

// cover is for which addresses of brokers the conditions of a path hold.
type cover struct {
	all bool // whatever clients connect to: the path has namespaces of its own, or a relay
	at  []netip.AddrPort
}

// coverOf returns what the planned conditions hold for.
func (t *Target) coverOf(brokers []netip.AddrPort, plan network.Plan) cover {
	return cover{all: t.Cluster != nil && t.Cluster.Network() != nil || plan.Has(network.Relay), at: brokers}
}

// outside returns those of the ends of connections for which the conditions do not hold, in order.
func (c cover) outside(ends []netip.AddrPort) (all []netip.AddrPort) {
	if c.all {
		return nil
	}
	for _, a := range ends {
		if a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port()); !slices.Contains(c.at, a) && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, netip.AddrPort.Compare)
	return all
}

// reached returns the addresses to which the run's clients have connected so far, as far as that is known.
func (n *Network) reached() []netip.AddrPort {
	if ends := n.ends.Load(); ends != nil {
		return (*ends)()
	}
	return nil
}

// follow has the conditions hold for what clients have connected to by now. A broker tells clients of addresses that the URL does
// not name. Those to which they do not get are told at the end.
func (c *conditions) follow() {
	more := c.path.cover.outside(c.path.network.reached())
	here, err := local()
	if err != nil || len(more) == 0 {
		return
	}
	if !slices.ContainsFunc(c.path.cover.at, func(a netip.AddrPort) bool { return !here(a.Addr()) }) {
		// Packets are held where they arrive, which is not here if the broker is elsewhere.
		more = slices.DeleteFunc(more, func(a netip.AddrPort) bool { return !here(a.Addr()) })
	}
	if len(more) > 0 && c.made.Follow(more) == nil {
		c.path.cover.at = append(slices.Clone(c.path.cover.at), more...)
		c.record.Followed = append(slices.Clip(c.record.Followed), written(more)...)
	}
}

// written writes addresses.
func written(addresses []netip.AddrPort) (all []string) {
	for _, a := range addresses {
		all = append(all, a.String())
	}
	return all
}
