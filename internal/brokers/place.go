package brokers

import (
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"strconv"

	"sixnines/internal/netns"
)

// place is where a process runs and listens: on loopback, or in a network namespace of its
// own, at its address there. The zero value is loopback.
type place struct{ node *netns.Node }

// ip returns the address on which the process listens.
func (p place) ip() string {
	if p.node == nil {
		return "127.0.0.1"
	}
	return p.node.Addr.String()
}

// at returns the address of a port.
func (p place) at(port int) string { return net.JoinHostPort(p.ip(), strconv.Itoa(port)) }

// device returns the name of the interface with the address.
func (p place) device() string {
	if p.node == nil {
		return "lo"
	}
	return "eth0"
}

// start starts a process there. The goroutine must have locked its thread: the thread is
// elsewhere for as long as that takes.
func (p place) start(c *exec.Cmd) error {
	if p.node == nil {
		return c.Start()
	}
	return p.node.Do(c.Start)
}

// places returns where n processes run: the nodes first, then helpers that the nodes share.
// With Apart each has a namespace.
func (o *Options) places(n int) ([]place, error) {
	all := make([]place, n)
	if o.network == nil {
		return all, nil
	}
	for i := range all {
		node, err := o.network.Join()
		if err != nil {
			return nil, err
		}
		all[i] = place{node}
	}
	return all, nil
}

// apart makes the network of a cluster whose nodes have separate namespaces.
func (o *Options) apart() (err error) {
	if !o.Apart {
		return nil
	}
	if o.Detach {
		return errors.New("a broker that outlives this process cannot have network namespaces, which end with the process")
	}
	o.network, err = netns.New()
	return err
}

// Network returns the network in whose namespaces the nodes run; nil: they run on loopback.
func (c *Cluster) Network() *netns.Network { return c.network }

// Addresses returns the nodes' addresses in their network; nil: they run on loopback.
func (c *Cluster) Addresses() []netip.Addr {
	if c.network == nil {
		return nil
	}
	var all []netip.Addr
	for _, m := range c.nodes {
		all = append(all, m.spec.place.node.Addr)
	}
	return all
}
