package network

import (
	"net/netip"
	"slices"
	"time"

	"sixnines/scenario"
)

// Way is one direction of a path: which packets belong to it, and where they can be reached.
type Way struct {
	Name string // for people: "to brokers"
	Back bool   // it leads from brokers to clients
	// From and To are the ends' addresses. A packet belongs to the way if From has its source and
	// To its destination; an empty list has every address, and port 0 every port.
	From, To []netip.AddrPort
	// Arrive are the paths of the network namespaces in which the packets are received, or, where
	// Leaves, sent; none: this process's own.
	Arrive []string
	// Leaves says that the packets are received on another machine: here they only leave.
	Leaves bool
	// Out and In are our devices through which all packets of the way leave and arrive, and no others;
	// the zero value: no device.
	Out, In Device
	// Unrelayed says why its connections cannot go through a relay; empty: they can.
	Unrelayed  string
	Conditions scenario.Conditions
}

// Device is a network device that this program made.
type Device struct {
	Namespace string `json:"namespace,omitempty"` // the path of its namespace; empty: this process's own
	Name      string `json:"name,omitempty"`
}

// Between returns the two ways between clients in this process's namespace and brokers at the
// addresses. A broker whose addresses are all this machine's own is local: packets of both ways are received
// here. Otherwise those to the brokers leave.
func Between(n scenario.Network, brokers []netip.AddrPort, local func(netip.Addr) bool) []Way {
	n = n.Resolved()
	here := !slices.ContainsFunc(brokers, func(a netip.AddrPort) bool { return !local(a.Addr()) })
	to := Way{Name: "to brokers", To: brokers, Leaves: !here}
	from := Way{Name: "from brokers", Back: true, From: brokers}
	if n.Direction != scenario.FromBrokers {
		to.Conditions = n.Conditions
	}
	if n.Direction != scenario.ToBrokers {
		from.Conditions = n.Conditions
	}
	return slices.DeleteFunc([]Way{to, from}, func(w Way) bool { return w.Conditions.IsZero() })
}

// RoundTrip returns by how much the conditions of the ways lengthen a round trip over all of
// them, on average and without queueing.
func RoundTrip(ways []Way) (sum time.Duration) {
	for _, w := range ways {
		sum += w.Conditions.Delay
	}
	return sum
}
