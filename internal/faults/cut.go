package faults

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/netns"
	"sixnines/result"
	"sixnines/scenario"
)

// cut drops packets between ends of the cluster's network for a time.
type cut struct {
	target *Target
	act    *scenario.Act

	cut     *netns.Cut // nil: nothing is cut
	held    bool       // the relay holds the path between clients and brokers: of its own, or of another cut
	numbers []int      // of the nodes that it happens to, ascending
	ends    map[netip.Addr]int
	dropped []netns.Dropped
	undoing int64 // when the kernel was asked to let packets pass, CLOCK_MONOTONIC
}

// Ahead implements actions.Early.
func (c *cut) Ahead() time.Duration {
	ahead := early
	for _, e := range slices.Concat(c.act.Cut.From, c.act.Cut.To) {
		if n, is := e.Node(); is {
			ahead = max(ahead, aheadOf(n))
		}
	}
	return ahead
}

// Describe implements actions.Describer.
func (c *cut) Describe(e *result.Event) {
	e.Action.Nodes = c.numbers
	if c.cut != nil && c.cut.Ended != 0 { // what was dropped is read after that
		e.Action.Asked, e.Action.Done = c.undoing, c.cut.Ended
	}
	if c.dropped == nil {
		return
	}
	var packets int64
	for _, d := range c.dropped {
		packets += int64(d.Packets)
		e.Action.Dropped = append(e.Action.Dropped, result.Dropped{From: c.ends[d.From], To: c.ends[d.To], Packets: int64(d.Packets), Bytes: int64(d.Bytes)})
	}
	e.Count = packets
	e.Detail += fmt.Sprintf(": %d packets dropped", packets)
}

// Do implements actions.Doer. It returns when the kernel has acknowledged that packets are dropped.
func (c *cut) Do(ctx context.Context, at int64) (happened int64, err error) {
	if c.target.relays(c.act) {
		return c.hold(ctx, at)
	}
	links, err := c.links(ctx)
	if err != nil {
		return 0, err
	}
	if err := until(ctx, at); err != nil {
		return 0, err
	}
	if c.cut, err = c.target.Cluster.Network().Cut(links); err != nil {
		return 0, err
	}
	return c.cut.Began, nil
}

// Undo implements actions.Undoer. The instant is when the kernel has acknowledged that packets pass.
func (c *cut) Undo(context.Context) (happened int64, err error) {
	if c.held {
		to, from, _ := c.act.Cut.Clients()
		done, err := c.target.Network.Relay.Release(to, from)
		return done.At, err
	}
	if c.cut == nil {
		return 0, nil
	}
	c.undoing = clock.Now()
	c.dropped, err = c.cut.Undo()
	return c.cut.Ended, err
}

// relays reports whether the relay does an act that cuts: of a broker whose nodes have no namespaces, the clients from all nodes.
func (t *Target) relays(act *scenario.Act) bool {
	_, _, all := act.Cut.Clients()
	return all && (t.Cluster == nil || t.Cluster.Network() == nil)
}

// hold has the relay hold back what clients and brokers send to each other, and what connects. It passes when the cut is over.
func (c *cut) hold(ctx context.Context, at int64) (happened int64, err error) {
	if c.target.Network.Relay == nil {
		return 0, errors.New("clients do not connect through a relay")
	}
	if err := until(ctx, at); err != nil {
		return 0, err
	}
	to, from, _ := c.act.Cut.Clients()
	c.held = true
	done, err := c.target.Network.Relay.Hold(to, from)
	return done.At, err
}

// links finds out which directions are meant.
func (c *cut) links(ctx context.Context) ([]netns.Link, error) {
	network := c.target.Cluster.Network()
	if network == nil {
		return nil, errors.New("the broker's nodes do not have their own network namespaces")
	}
	c.ends = map[netip.Addr]int{network.Host(): result.ClientsEnd}
	for k, a := range c.target.Cluster.Addresses() {
		c.ends[a] = k
	}
	from, err := c.addresses(ctx, c.act.Cut.From)
	if err != nil {
		return nil, err
	}
	to, err := c.addresses(ctx, c.act.Cut.To)
	if err != nil {
		return nil, err
	}
	var links []netns.Link
	add := func(l netns.Link) {
		if l.From != l.To && !slices.Contains(links, l) {
			links = append(links, l)
		}
	}
	for _, a := range from {
		for _, b := range to {
			add(netns.Link{From: a, To: b})
			if !c.act.Cut.OneWay {
				add(netns.Link{From: b, To: a})
			}
		}
	}
	if len(links) == 0 {
		return nil, errors.New("both sides are the same node")
	}
	for _, l := range links {
		for _, a := range []netip.Addr{l.From, l.To} {
			if k := c.ends[a]; k != result.ClientsEnd && !slices.Contains(c.numbers, k) {
				c.numbers = append(c.numbers, k)
			}
		}
	}
	slices.Sort(c.numbers)
	return links, nil
}

// addresses returns the addresses of ends.
func (c *cut) addresses(ctx context.Context, ends scenario.Ends) (all []netip.Addr, err error) {
	nodes := c.target.Cluster.Addresses()
	for _, e := range ends {
		choice, is := e.Node()
		if !is {
			all = append(all, c.target.Cluster.Network().Host())
			continue
		}
		chosen, err := c.target.choose(ctx, c.act, choice)
		if err != nil {
			return nil, err
		}
		for _, k := range chosen {
			all = append(all, nodes[k])
		}
	}
	return all, nil
}
