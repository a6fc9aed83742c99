package vitals

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// CheckBroker checks whether the hosts of a broker, names or addresses, are this
// machine: if so, generator and broker share its processors, and the network card
// does not matter. It asks the resolver, within ctx's time, and connects nowhere.
// Containers and virtual machines on this machine count as elsewhere unless they
// use its addresses.
func CheckBroker(ctx context.Context, hosts []string) Check {
	own, err := net.InterfaceAddrs()
	if err != nil {
		c := unknown(fmt.Errorf("addresses of this machine: %w", err), "check yourself whether the broker is on this machine")
		c.Name = brokerCheck
		return c
	}
	c := placeBroker(hosts, own, func(host string) ([]net.IPAddr, error) { return net.DefaultResolver.LookupIPAddr(ctx, host) })
	c.Name = brokerCheck
	return c
}

// brokerCheck is the name of the check.
const brokerCheck = "broker"

func placeBroker(hosts []string, own []net.Addr, lookup func(string) ([]net.IPAddr, error)) Check {
	var here, elsewhere []string
	for _, host := range hosts {
		addresses, err := lookup(host)
		if err != nil {
			return unknown(err, "make sure that the broker's name can be resolved from here")
		}
		if slices.ContainsFunc(addresses, func(a net.IPAddr) bool { return isOwn(a.IP, own) }) {
			here = append(here, host)
		} else {
			elsewhere = append(elsewhere, host)
		}
	}
	const shared = "broker and generator share the processors: run the broker on another machine, or pin both to different cores; every result shows how much the broker uses"
	switch {
	case len(elsewhere) == 0:
		return note("on this machine: "+strings.Join(here, ", "), shared)
	case len(here) == 0:
		return good("elsewhere: " + strings.Join(elsewhere, ", ") + "; the network card matters, and for one-way latency the time synchronisation")
	}
	return note(fmt.Sprintf("on this machine: %s; elsewhere: %s", strings.Join(here, ", "), strings.Join(elsewhere, ", ")), shared)
}

// BrokerHosts returns the hosts of a broker's address, a comma-separated list of URLs
// or host:port; nil for an empty address. It leaves logins out.
func BrokerHosts(address string) ([]string, error) {
	if address == "" {
		return nil, nil
	}
	var hosts []string
	for part := range strings.SplitSeq(address, ",") {
		scheme, rest, ok := strings.Cut(strings.TrimSpace(part), "://")
		if !ok {
			scheme, rest = "", strings.TrimSpace(part)
		}
		if scheme == "ipc" || scheme == "unix" {
			hosts = append(hosts, "localhost")
			continue
		}
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		rest, _, _ = strings.Cut(rest, "/")
		rest, _, _ = strings.Cut(rest, "?")
		host, _, err := net.SplitHostPort(rest)
		if err != nil { // without a port
			host = strings.Trim(rest, "[]")
		}
		if host == "" || strings.ContainsAny(host, " \t") {
			return nil, errors.New("the address has no host")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// OnThisMachine reports whether one of the hosts of a broker's address is this machine, by
// its names and addresses. It is false if that cannot be determined within ctx's time.
func OnThisMachine(ctx context.Context, address string) bool {
	hosts, err := BrokerHosts(address)
	if err != nil {
		return false
	}
	own, _ := net.InterfaceAddrs() // on an error, loopback is still recognised
	name, _ := os.Hostname()
	return slices.ContainsFunc(hosts, func(host string) bool {
		if strings.EqualFold(host, "localhost") || name != "" && strings.EqualFold(host, name) {
			return true
		}
		all, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		return err == nil && slices.ContainsFunc(all, func(a net.IPAddr) bool { return isOwn(a.IP, own) })
	})
}

// isOwn reports whether ip is an address of this machine.
func isOwn(ip net.IP, own []net.Addr) bool {
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
