//go:build !linux

package netns

import (
	"fmt"
	"net/netip"
	"runtime"
)

// Network is a group of namespaces. This system has no namespaces.
type Network struct{}

// Node is a namespace with an address.
type Node struct{ Addr netip.Addr }

// Cut drops the packets of directions of a network until it is undone.
type Cut struct{ Began, Ended int64 }

func unavailable() error {
	return fmt.Errorf("netns: %w: they are Linux's, and this is %s", ErrUnavailable, runtime.GOOS)
}

// New returns an error.
func New() (*Network, error) { return nil, unavailable() }

// Clean does nothing.
func Clean() ([]string, error) { return nil, nil }

// Host returns no address.
func (*Network) Host() netip.Addr { return netip.Addr{} }

// Interface returns no name.
func (*Network) Interface() string { return "" }

// Prefix returns no addresses.
func (*Network) Prefix() netip.Prefix { return netip.Prefix{} }

// Join returns an error.
func (*Network) Join() (*Node, error) { return nil, unavailable() }

// Nodes returns none.
func (*Network) Nodes() []*Node { return nil }

// Close does nothing.
func (*Network) Close() error { return nil }

// Cut returns an error.
func (*Network) Cut([]Link) (*Cut, error) { return nil, unavailable() }

// Do returns an error.
func (*Node) Do(func() error) error { return unavailable() }

// Undo returns an error.
func (*Cut) Undo() ([]Dropped, error) { return nil, unavailable() }

// Dropped returns an error.
func (*Cut) Dropped() ([]Dropped, error) { return nil, unavailable() }

// Switch returns no path.
func (*Network) Switch() string { return "" }

// Namespace returns no path.
func (*Node) Namespace() string { return "" }
