// Package netns makes network namespaces of this machine, so that processes can be parted
// from each other and from this process: a [Network] of nodes, each with an interface and an
// address of its own, joined by a bridge that has a namespace to itself.
//
//	this namespace                     the switch                    a node's namespace
//	s9-PID-N  198.18.x.1/24  ═══════  host ┐
//	                                       ├ bridge
//	                                  n0   ┘ ═══════════════  eth0  198.18.x.10/24
//
// In this namespace there is one interface, named s9-PID-N, with the alias "sixnines" and the
// network's addresses; routing, filters and settings of the machine stay as they are. All
// packets cross the switch, where [Network.Cut] drops those of pairs by nftables: each
// direction by itself, and counted. Address resolution still works, so who is cut sees
// silence: neither a refusal nor an unreachable host.
//
// Nothing stays behind. Namespaces have no names: the kernel removes each, with its devices
// and rules, when its last process has ended and the descriptor that the Network holds is
// closed, which the end of this process does in any case. While the Network is there, a socket
// of the abstract namespace named after its addresses is open; where that name is free, the
// owner has ended, and an interface that is left over can be removed: see [Clean].
//
// It needs Linux and the rights to make namespaces and interfaces (root, or CAP_SYS_ADMIN and
// CAP_NET_ADMIN); elsewhere [New] returns an error that wraps [ErrUnavailable].
package netns

import (
	"errors"
	"net/netip"
)

// ErrUnavailable says that no network namespaces can be made here.
var ErrUnavailable = errors.New("no network namespace can be made")

// Link is a direction between two ends of a network.
type Link struct{ From, To netip.Addr }

// Dropped is what was dropped of a direction: packets as the kernel carries them, several
// segments of one connection counting as one, and their bytes with Ethernet's header.
type Dropped struct {
	Link
	Packets, Bytes uint64
}

// HostPort is the port of the switch that leads to the namespace of the process that made the network.
const HostPort = "host"
