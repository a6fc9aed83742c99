//go:build unix

package cli

import (
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/internal/netns"
)

// namespaces reports whether nodes can have network namespaces here.
func namespaces() (bool, error) {
	n, err := netns.New()
	if errors.Is(err, netns.ErrUnavailable) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, n.Close()
}

// cmdUnplugged: unplugged RESULT waits until the network with the addresses of the result's nodes has
// left this machine: no interface has one of them.
func cmdUnplugged(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s matches %q", args[0], found)
	}
	first := regexp.MustCompile(`"addresses":\["([0-9.]+)"`).FindStringSubmatch(ts.ReadFile(found[0]))
	if first == nil {
		ts.Fatalf("%s names no addresses of nodes", found[0])
	}
	node, err := netip.ParseAddr(first[1])
	ts.Check(err)
	network, err := node.Prefix(24)
	ts.Check(err)
	deadline := time.Now().Add(patience)
	for {
		own, err := net.InterfaceAddrs()
		ts.Check(err)
		if !slices.ContainsFunc(own, func(a net.Addr) bool {
			p, err := netip.ParsePrefix(a.String())
			return err == nil && network.Contains(p.Addr())
		}) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("an interface with an address of %s is still there", network)
		}
		time.Sleep(5 * time.Millisecond) // between looks
	}
}
