package brokers

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// ErrPortTaken says that another program listens on the broker's port.
var ErrPortTaken = errors.New("port taken")

// loopback returns the address of a port of this machine.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// checkPort returns an error that wraps ErrPortTaken if a program listens there.
func checkPort(port int) error {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPortTaken, loopback(port), err)
	}
	return l.Close()
}

// reservation keeps a TCP port from other starts of brokers, in this process or in
// another, until it is closed. It binds the UDP port of the same number, which no
// broker here uses. The TCP port itself must stay free: a broker may take many
// seconds until it listens, and may be killed and started again.
type reservation struct {
	port int
	io.Closer
}

// reservePorts reserves n loopback ports that are free now, except the port but. They are
// outside the range from which the kernel takes ports for outgoing connections.
func reservePorts(n, but int) ([]reservation, error) {
	low, high := portRange(ephemeralPorts())
	return reserveWithin(low, high, n, but)
}

// reserveWithin is reservePorts for the ports from low to high, both included. On an error
// nothing stays reserved.
func reserveWithin(low, high, n, but int) ([]reservation, error) {
	var all []reservation
	last := errors.New("no other port is free")
	first := rand.IntN(high - low + 1)
	for k := 0; k <= high-low && len(all) < n; k++ {
		port := low + (first+k)%(high-low+1)
		if port == but {
			continue
		}
		held, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			last = err
			continue
		}
		if err := checkPort(port); err != nil {
			last = errors.Join(err, held.Close())
			continue
		}
		all = append(all, reservation{port, held})
	}
	if len(all) < n {
		err := fmt.Errorf("only %d ports from %d to %d are free, but %d are needed; stop the processes that listen there: %w", low, high, len(all), n, last)
		return nil, errors.Join(err, release(all))
	}
	return all, nil
}

// release closes reservations.
func release(all []reservation) error {
	var errs []error
	for _, r := range all {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// ports returns n ports. The first is o.Port if that is set; the others are free, and
// reserved until the cluster is stopped.
func (o *Options) ports(n int) ([]int, error) {
	var ports []int
	if o.Port != 0 {
		ports = append(ports, o.Port)
	}
	all, err := reservePorts(n-len(ports), o.Port)
	if err != nil {
		return nil, err
	}
	o.reserved = append(o.reserved, all...)
	for _, r := range all {
		ports = append(ports, r.port)
	}
	return ports, nil
}

// Brokers get ports from lowestPort to highestPort that are not ephemeral, if at least
// enoughPorts are left.
const (
	lowestPort, highestPort = 10_000, 1<<16 - 1
	enoughPorts             = 1_000
)

// portRange returns the range of ports for brokers, given the ephemeral ports from and
// to, all inclusive: those below the ephemeral ones, else those above, or all if both
// ranges are too small.
func portRange(from, to int) (low, high int) {
	switch {
	case from-lowestPort >= enoughPorts:
		return lowestPort, from - 1
	case highestPort-to >= enoughPorts:
		return to + 1, highestPort
	}
	return lowestPort, highestPort
}

// ephemeralPorts returns the first and the last port that the kernel gives to outgoing
// connections: by ip(7) on Linux, elsewhere those of RFC 6335.
func ephemeralPorts() (from, to int) {
	if said, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if n, err := fmt.Fscan(strings.NewReader(string(said)), &from, &to); n == 2 && err == nil {
			return from, to
		}
	}
	return 49_152, highestPort
}
