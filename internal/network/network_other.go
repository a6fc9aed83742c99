//go:build !linux

package network

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"sixnines/internal/journal"
	"sixnines/internal/relay"
)

// errNoMeans is what this system answers.
var errNoMeans = errors.New("network: conditions are available on Linux only")

// Look finds no means on this system.
func Look() Machine {
	m := Machine{Why: map[Means]string{}}
	for _, p := range All() {
		m.Why[p.Means] = "it needs Linux"
	}
	return m
}

// Options say how a plan is carried out.
type Options struct {
	Command []string
	Seed    uint64
	Journal *journal.Journal
	Relay   *relay.Relay
}

// Path is never made on this system.
type Path struct{}

// Prepare fails.
func (p Plan) Prepare(Options) (*Path, error) { return nil, errNoMeans }

// Begin fails.
func (p *Path) Begin() (int64, error) { return 0, errNoMeans }

// End fails.
func (p *Path) End() (int64, error) { return 0, errNoMeans }

// Close fails.
func (p *Path) Close() error { return errNoMeans }

// Follow fails.
func (p *Path) Follow([]netip.AddrPort) error { return errNoMeans }

// Instants returns nothing.
func (p *Path) Instants() []Instant { return nil }

// Counts returns nothing.
func (p *Path) Counts() []Counts { return nil }

// Kinds returns none: nothing is left on this system.
func Kinds() []journal.Kind { return nil }

// Serve fails.
func Serve(io.Reader, io.Writer) error { return errNoMeans }

func kernelRoundTrip(*net.TCPConn) time.Duration { return 0 }
