package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/journal"
	"sixnines/internal/netns"
	"sixnines/internal/network"
	"sixnines/internal/relay"
	"sixnines/result"
	"sixnines/scenario"
)

// Network says where the broker is, and with what conditions are made.
type Network struct {
	URL     string           // where clients connect
	Command []string         // this program as the process of the queues, see network.Serve
	Journal *journal.Journal // what a killed process leaves
	Relay   *relay.Relay     // through which the run's clients connect; nil: they connect directly
	// Unrelayed says why they cannot connect through a relay; empty: they can.
	Unrelayed string
	look      sync.Once
	ends      atomic.Pointer[func() []netip.AddrPort] // see Target.Connected; nil: not known
	held      *conditions                             // of the whole run; nil: none
	machine   network.Machine
}

// sees looks once what this machine can do.
func (n *Network) sees() network.Machine {
	n.look.Do(func() { n.machine = network.Look() })
	return n.machine
}

// brokers returns the addresses of the broker's ports at which clients connect.
func (n *Network) brokers(ctx context.Context) (all []netip.AddrPort, err error) {
	for at := range strings.SplitSeq(n.URL, ",") {
		if _, host, found := strings.Cut(at, "://"); found {
			at = host
		}
		at, _, _ = strings.Cut(at, "/")
		at, _, _ = strings.Cut(at, "?")
		at = at[strings.LastIndexByte(at, '@')+1:]
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, fmt.Errorf("network conditions need the broker's port: write it in target.url, such as HOST:PORT: %w", err)
		}
		number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
		if err != nil {
			return nil, err
		}
		addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			all = append(all, netip.AddrPortFrom(a.Unmap(), uint16(number)))
		}
	}
	return all, nil
}

// local returns what reports whether an address is this machine's own.
func local() (func(netip.Addr) bool, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := map[netip.Addr]bool{}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own[p.Addr()] = true
		}
	}
	return func(a netip.Addr) bool { return a.IsLoopback() || own[a.Unmap()] }, nil
}

// Path is the one between two ends, with its plan.
type Path struct {
	network *Network
	asked   scenario.Network
	seed    uint64
	probed  netip.AddrPort // where handshakes are made; zero: between nodes they are not
	plan    network.Plan
	cover   cover
}

// Path plans what a network asks for. Its errors say why it cannot be had, and what could.
func (t *Target) Path(ctx context.Context, asked scenario.Network) (*Path, error) {
	asked = asked.Resolved()
	brokers, err := t.Network.brokers(ctx)
	if err != nil {
		return nil, err
	}
	p := &Path{network: t.Network, asked: asked, seed: t.Seed, probed: brokers[0]}
	ways, err := t.ways(asked, brokers)
	if err != nil {
		return nil, err
	}
	if asked.Among() {
		p.probed = netip.AddrPort{}
	}
	p.plan, err = t.Network.sees().Plan(ways)
	p.cover = t.coverOf(brokers, p.plan)
	return p, err
}

// ways returns the ways of a path. The nodes of a cluster in namespaces are reached through devices that Sixnines creates.
func (t *Target) ways(asked scenario.Network, brokers []netip.AddrPort) ([]network.Way, error) {
	var apart *netns.Network
	if t.Cluster != nil {
		apart = t.Cluster.Network()
	}
	switch {
	case asked.Among() && apart == nil:
		return nil, errors.New("the path between nodes needs a network namespace for each node")
	case apart != nil:
		return t.Network.relayable(asked, spacesOf(apart).ways(asked)), nil
	}
	here, err := local()
	if err != nil {
		return nil, err
	}
	return t.Network.relayable(asked, network.Between(asked, brokers, here)), nil
}

// relayable says of ways why no relay can be in them.
func (n *Network) relayable(asked scenario.Network, ways []network.Way) []network.Way {
	why := n.Unrelayed
	if asked.Among() {
		why = "nodes connect to each other by themselves"
	}
	for i := range ways {
		ways[i].Unrelayed = why
	}
	return ways
}

// NeedsRelay reports whether clients have to connect through a relay for the network of the whole run, if it has one, or an act
// of it.
func (t *Target) NeedsRelay(ctx context.Context, whole *scenario.Network, acts []scenario.Act) bool {
	relayed := func(n scenario.Network) bool {
		p, err := t.Path(ctx, n)
		return err == nil && p.plan.Has(network.Relay) // an error is reported where the path is needed
	}
	return whole != nil && relayed(*whole) || slices.ContainsFunc(acts, func(a scenario.Act) bool {
		return a.Kind == scenario.ActionNetwork && relayed(*a.Network) || a.Kind == scenario.ActionCut && t.relays(&a)
	})
}

// spaces are the network namespaces of a cluster's nodes, and what is between them and this process's.
type spaces struct {
	near, far  network.Device // of the path to the nodes, on both sides
	host       netip.Addr     // of this process's namespace
	nodes      []netip.AddrPort
	namespaces []string // of the nodes
}

func spacesOf(apart *netns.Network) spaces {
	s := spaces{near: network.Device{Name: apart.Interface()}, far: network.Device{Namespace: apart.Switch(), Name: netns.HostPort}, host: apart.Host()}
	for _, n := range apart.Nodes() {
		s.nodes, s.namespaces = append(s.nodes, netip.AddrPortFrom(n.Addr, 0)), append(s.namespaces, n.Namespace())
	}
	return s
}

// planned stands for the namespaces of nodes that are still to be started.
func planned(nodes int) spaces {
	s := spaces{near: network.Device{Name: "s9"}, far: network.Device{Namespace: "switch", Name: netns.HostPort}, host: netip.IPv6Loopback()}
	for k := range nodes {
		s.nodes, s.namespaces = append(s.nodes, netip.AddrPortFrom(netip.IPv6Loopback(), 0)), append(s.namespaces, fmt.Sprint(k))
	}
	return s
}

// ways returns those between the nodes, or those between this process's namespace and the nodes, on every port.
func (s spaces) ways(asked scenario.Network) (all []network.Way) {
	if asked.Among() {
		return []network.Way{{Name: "between brokers", From: s.nodes, To: s.nodes, Arrive: s.namespaces, Conditions: asked.Conditions}}
	}
	host := []netip.AddrPort{netip.AddrPortFrom(s.host, 0)}
	if asked.Direction != scenario.FromBrokers {
		all = append(all, network.Way{Name: "to brokers", From: host, To: s.nodes, Arrive: s.namespaces, Out: s.near, In: s.far, Conditions: asked.Conditions})
	}
	if asked.Direction != scenario.ToBrokers {
		all = append(all, network.Way{Name: "from brokers", Back: true, From: s.nodes, To: host, Out: s.far, In: s.near, Conditions: asked.Conditions})
	}
	return all
}

// Preview says by which means conditions would be made, and why better ones would not be used, before a broker is started. Its
// errors are those that Path would have. apart is how many nodes will be in network namespaces of their own; 0: the broker
// is at the URL, or on loopback.
func (n *Network) Preview(asked scenario.Network, apart int) (string, error) {
	asked = asked.Resolved()
	var ways []network.Way
	if apart > 0 {
		ways = planned(apart).ways(asked)
	} else {
		at := []netip.AddrPort{netip.AddrPortFrom(netip.IPv6Loopback(), 1)}
		if n.URL != "" {
			var err error
			if at, err = n.brokers(context.Background()); err != nil {
				return "", err
			}
		}
		here, err := local()
		if err != nil {
			return "", err
		}
		ways = network.Between(asked, at, here)
	}
	plan, err := n.sees().Plan(n.relayable(asked, ways))
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{plan.String()}, plan.Not...), "; "), nil
}

// record is what a result has of the path before anything was measured.
func (p *Path) record() *result.Network {
	c := p.asked.Conditions
	r := &result.Network{Direction: string(p.asked.Direction), Profile: p.asked.Profile, Not: p.plan.Not,
		Asked: result.Conditions{Delay: int64(c.Delay), Jitter: int64(c.Jitter), Loss: float64(c.Loss), Reorder: float64(c.Reorder), Rate: int64(c.Rate)}}
	if !p.cover.all {
		r.Unknown = p.network.Unrelayed
	}
	for _, end := range p.asked.Between {
		r.Between = append(r.Between, string(end))
	}
	for _, u := range p.plan.Uses {
		r.Means = append(r.Means, result.NetworkMeans{Way: u.Way.Name, Means: string(u.Means), Gave: u.Gives()})
	}
	return r
}

// Limits of measuring the path.
const (
	handshakes     = 20                     // before and after the conditions
	handshakesTime = 500 * time.Millisecond // that they take at most
	handshakeEvery = 50 * time.Millisecond  // while the conditions hold
	handshakesMost = 2000
)

// measure times handshakes; nil: no address is known.
func (p *Path) measure(ctx context.Context) *result.RoundTrips {
	if !p.probed.IsValid() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.handshakesTime())
	defer cancel()
	return roundTrips(network.Measure(ctx, p.probed, p.via(), handshakes, 0))
}

// via is the relay through which the path leads; nil: it leads through no relay.
func (p *Path) via() *relay.Via {
	if !p.plan.Has(network.Relay) || p.network.Relay == nil {
		return nil
	}
	via := p.network.Relay.Via()
	return &via
}

func roundTrips(r network.RoundTrips) *result.RoundTrips {
	return &result.RoundTrips{Tried: r.Tried, Failed: r.Failed, Min: int64(r.Min), P50: int64(r.P50), P99: int64(r.P99)}
}

// conditions give a path conditions for a time.
type conditions struct {
	path   *Path
	record *result.Network

	made   *network.Path
	during chan *result.RoundTrips // holds what was measured while they held
	stop   context.CancelFunc
	// asked and done bound the latest change of the conditions, CLOCK_MONOTONIC: handshakes are timed beside it.
	asked, done int64
}

// Ahead implements actions.Early: handshakes, and the process of the queues.
func (c *conditions) Ahead() time.Duration { return handshakesTime + 500*time.Millisecond }

// Describe implements actions.Describer.
func (c *conditions) Describe(e *result.Event) {
	now := *c.record
	now.Means = slices.Clone(now.Means)
	for i, when := range c.made.Instants() {
		now.Means[i].Asked, now.Means[i].Done = when.Asked, when.Done
	}
	e.Action.Network, e.Action.Asked, e.Action.Done = &now, c.asked, c.done
}

// Do implements actions.Doer.
func (c *conditions) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := c.prepare(ctx); err != nil {
		return 0, err
	}
	if err := until(ctx, at); err != nil {
		return 0, err
	}
	c.asked = clock.Now()
	if happened, err = c.made.Begin(); err != nil {
		return 0, err
	}
	c.done = happened
	c.watch()
	return happened, nil
}

// prepare measures the path without the conditions, and gets them ready.
func (c *conditions) prepare(ctx context.Context) (err error) {
	c.record = c.path.record()
	c.record.Before = c.path.measure(ctx)
	c.made, err = c.path.plan.Prepare(network.Options{Command: c.path.network.Command, Seed: c.path.seed, Journal: c.path.network.Journal, Relay: c.path.network.Relay})
	if err == nil {
		c.follow()
	}
	return err
}

// watch times handshakes until stop.
func (c *conditions) watch() {
	if !c.path.probed.IsValid() {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.during = stop, make(chan *result.RoundTrips, 1)
	go func() {
		c.during <- roundTrips(network.Measure(ctx, c.path.probed, c.path.via(), handshakesMost, handshakeEvery))
	}()
}

// Undo implements actions.Undoer.
func (c *conditions) Undo(ctx context.Context) (happened int64, err error) {
	if c.made == nil {
		return 0, nil
	}
	c.asked = clock.Now()
	happened, err = c.made.End()
	c.done = happened
	if c.stop != nil {
		c.stop()
		c.record.During = <-c.during
	}
	err = errors.Join(err, c.made.Close())
	for i, n := range c.made.Counts() {
		m := &c.record.Means[i]
		m.Packets, m.Lost, m.Reordered, m.Overflow = n.Packets, n.Lost, n.Reordered, n.Overflow
		m.Rate, m.Late, m.LateMost = n.Rate(), int64(n.Late), int64(n.LateMost)
	}
	c.record.After = c.path.measure(ctx)
	c.record.Uncovered = written(c.path.cover.outside(c.path.network.reached()))
	return happened, err
}
