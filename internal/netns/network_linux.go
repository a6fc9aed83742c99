package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vishvananda/netlink"
	nl "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	linkPrefix  = "s9-"       // of the interface in this process's namespace
	aliasPrefix = "sixnines " // of its alias; the network's addresses follow
	firstNode   = 10          // the last byte of the first node's address
	mostNodes   = 200
)

// benchmarks are the addresses that RFC 2544 sets apart for benchmarks of networks.
var benchmarks = netip.MustParsePrefix("198.18.0.0/15")

// leastUsed is the least length of a route's prefix that marks addresses as in use. Shorter
// ones are default routes in parts, which a route to the network's own addresses overrides.
const leastUsed = 8

// Network is a group of namespaces. Its methods are safe for concurrent use.
type Network struct {
	link   string // of the interface in this process's namespace
	prefix netip.Prefix
	own    net.Listener // held as long as the network is there
	hub    *space       // the switch
	inHub  *netlink.Handle
	port   int // index of the port that leads to this process's namespace

	mu    sync.Mutex // guards what follows
	nodes []*Node
	cuts  int
}

// Node is a namespace with an address.
type Node struct {
	Addr netip.Addr

	space *space
	port  int // index of its port in the switch
}

// New makes a network without nodes. The caller closes it.
func New() (*Network, error) {
	n, err := newNetwork()
	if err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			err = fmt.Errorf("%w: it needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN: %w", ErrUnavailable, err)
		} else if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
			err = fmt.Errorf("%w: the kernel needs namespaces, veth and bridge: %w", ErrUnavailable, err)
		}
		return nil, fmt.Errorf("netns: %w", err)
	}
	return n, nil
}

func newNetwork() (_ *Network, err error) {
	n := &Network{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.hub, err = newSpace(); err != nil {
		return nil, err
	}
	if n.prefix, n.own, err = takePrefix(); err != nil {
		return nil, err
	}
	if n.inHub, err = n.hub.handle(); err != nil {
		return nil, err
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge"}}
	if err := n.inHub.LinkAdd(bridge); err != nil {
		return nil, fmt.Errorf("make a bridge: %w", err)
	}
	if err := n.inHub.LinkSetUp(bridge); err != nil {
		return nil, err
	}
	here, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	name := linkName()
	if err := n.plug(here, name, HostPort, n.Host()); err != nil {
		return nil, err
	}
	n.link = name
	pair, err := here.LinkByName(name)
	if err != nil {
		return nil, err
	}
	if err := here.LinkSetAlias(pair, aliasPrefix+n.prefix.String()); err != nil {
		return nil, err
	}
	n.port, err = n.portOf(HostPort)
	return n, err
}

// numbers distinguishes the networks of this process.
var numbers atomic.Uint32

func linkName() string {
	return linkPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(uint64(numbers.Add(1)%1000), 10)
}

// plug makes a pair of interfaces: one with a name and an address in the namespace to which h
// is the handle, the other a port of the bridge.
func (n *Network) plug(h *netlink.Handle, name, port string, addr netip.Addr) error {
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: port, PeerNamespace: netlink.NsFd(n.hub.fd())}
	if err := h.LinkAdd(pair); err != nil {
		return fmt.Errorf("make a pair of interfaces: %w", err)
	}
	end, err := h.LinkByName(name)
	if err != nil {
		return err
	}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(n.prefix.Bits(), 32)}}
	peer, err := n.inHub.LinkByName(port)
	if err != nil {
		return err
	}
	bridge, err := n.inHub.LinkByName("bridge")
	if err != nil {
		return err
	}
	return errors.Join(h.AddrAdd(end, address), n.inHub.LinkSetMaster(peer, bridge), n.inHub.LinkSetUp(peer), h.LinkSetUp(end))
}

func (n *Network) portOf(name string) (int, error) {
	l, err := n.inHub.LinkByName(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().Index, nil
}

// Host returns the address of this process's namespace in the network.
func (n *Network) Host() netip.Addr { return n.address(1) }

// Interface returns the name of the interface by which this process's namespace is connected.
func (n *Network) Interface() string { return n.link }

// Prefix returns the network's addresses.
func (n *Network) Prefix() netip.Prefix { return n.prefix }

func (n *Network) address(last int) netip.Addr {
	a := n.prefix.Addr().As4()
	a[3] = byte(last)
	return netip.AddrFrom4(a)
}

// Join adds a namespace, with the next address.
func (n *Network) Join() (*Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.nodes) == mostNodes {
		return nil, fmt.Errorf("netns: a network has up to %d nodes", mostNodes)
	}
	s, err := newSpace()
	if err != nil {
		return nil, fmt.Errorf("netns: %w", err)
	}
	node := &Node{Addr: n.address(firstNode + len(n.nodes)), space: s}
	if err := n.connect(node); err != nil {
		return nil, fmt.Errorf("netns: %w", errors.Join(err, s.close()))
	}
	n.nodes = append(n.nodes, node)
	return node, nil
}

func (n *Network) connect(node *Node) error {
	h, err := node.space.handle()
	if err != nil {
		return err
	}
	defer h.Close()
	port := "n" + strconv.Itoa(len(n.nodes))
	if err := n.plug(h, "eth0", port, node.Addr); err != nil {
		return err
	}
	node.port, err = n.portOf(port)
	return err
}

// Nodes returns the nodes in the order in which they joined.
func (n *Network) Nodes() []*Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*Node(nil), n.nodes...)
}

// Close removes the network. Processes in its namespaces stay, without a way to each other.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	if n.link != "" {
		errs = append(errs, removeLink(n.link))
		n.link = ""
	}
	for _, node := range n.nodes {
		errs = append(errs, node.space.close())
	}
	n.nodes = nil
	if n.inHub != nil {
		n.inHub.Close()
		n.inHub = nil
	}
	if n.hub != nil {
		errs = append(errs, n.hub.close())
		n.hub = nil
	}
	if n.own != nil {
		errs = append(errs, n.own.Close())
		n.own = nil
	}
	return errors.Join(errs...)
}

func removeLink(name string) error {
	l, err := netlink.LinkByName(name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return nil
	}
	if err != nil {
		return err
	}
	return netlink.LinkDel(l)
}

// whole calls a function that lists something of the kernel's until nothing has changed in the middle of it, as when
// another process makes an interface.
func whole[A any](list func() ([]A, error)) (all []A, err error) {
	for range 100 {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}

// Clean removes the interfaces that networks of ended processes have left in this namespace,
// and returns their names. It changes no other interface.
func Clean() (removed []string, err error) {
	links, err := whole(netlink.LinkList)
	if err != nil {
		return nil, fmt.Errorf("netns: list interfaces: %w", err)
	}
	for _, l := range links {
		a := l.Attrs()
		prefix, ours := strings.CutPrefix(a.Alias, aliasPrefix)
		if !ours || !strings.HasPrefix(a.Name, linkPrefix) || l.Type() != "veth" {
			continue
		}
		own, err := claim(prefix)
		if errors.Is(err, unix.EADDRINUSE) {
			continue // its owner is there
		}
		if err != nil {
			return removed, fmt.Errorf("netns: %w", err)
		}
		if err := errors.Join(netlink.LinkDel(l), own.Close()); err != nil {
			return removed, fmt.Errorf("netns: remove the interface %s: %w", a.Name, err)
		}
		removed = append(removed, a.Name)
	}
	return removed, nil
}

// claim takes the name of a network for this process. The kernel frees it when the process
// ends, and knows one for each network namespace, as for addresses. The error wraps EADDRINUSE
// if another process has it.
func claim(prefix string) (net.Listener, error) { return net.Listen("unix", "@sixnines-net-"+prefix) }

// takePrefix returns 256 addresses that nothing on this machine uses, and what keeps other
// processes from taking them.
func takePrefix() (netip.Prefix, net.Listener, error) {
	if _, err := Clean(); err != nil {
		return netip.Prefix{}, nil, err
	}
	base := benchmarks.Addr().As4()
	const all = 512 // networks of 256 addresses
	first := os.Getpid()
	for k := range all {
		third := (first + k) % all
		a := base
		binary.BigEndian.PutUint16(a[1:], binary.BigEndian.Uint16(base[1:])+uint16(third))
		prefix := netip.PrefixFrom(netip.AddrFrom4(a), 24)
		own, err := claim(prefix.String())
		if errors.Is(err, unix.EADDRINUSE) {
			continue
		}
		if err != nil {
			return netip.Prefix{}, nil, err
		}
		// Only now: who has had the name may have left its routes until this instant.
		used, err := usedPrefixes()
		if err != nil {
			return netip.Prefix{}, nil, errors.Join(err, own.Close())
		}
		if !overlaps(prefix, used) {
			return prefix, own, nil
		}
		own.Close()
	}
	return netip.Prefix{}, nil, fmt.Errorf("all addresses of %s are in use on this machine; see ip route", benchmarks)
}

func overlaps(p netip.Prefix, used []netip.Prefix) bool {
	for _, u := range used {
		if u.Bits() >= leastUsed && u.Overlaps(p) {
			return true
		}
	}
	return false
}

// usedPrefixes returns the destinations of the routes of this namespace in all tables; local
// addresses are among them.
func usedPrefixes() ([]netip.Prefix, error) {
	routes, err := whole(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var used []netip.Prefix
	for _, r := range routes {
		if r.Dst == nil {
			continue
		}
		if addr, ok := netip.AddrFromSlice(r.Dst.IP.To4()); ok {
			bits, _ := r.Dst.Mask.Size()
			used = append(used, netip.PrefixFrom(addr, bits))
		}
	}
	return used, nil
}

// Do runs f on a thread of the node's namespace: sockets that it opens and processes that it
// starts are there. f must not start goroutines that do either.
func (n *Node) Do(f func() error) error { return n.space.do(f) }

// handle returns a netlink socket in the namespace.
func (s *space) handle() (*netlink.Handle, error) {
	h, err := netlink.NewHandleAt(nl.NsHandle(s.fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket in a namespace: %w", err)
	}
	return h, nil
}
