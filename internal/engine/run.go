package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"sixnines/internal/transport"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

// run is what the loads of a run share: the phases, the window, the
// collector, the watch of the machine, and the output.
type run struct {
	*control
	scenario *scenario.Scenario
	loads    []*load
	fullID   string // in the result

	// start and end of the window, CLOCK_MONOTONIC; far off until known. Each load
	// has its own within it.
	start, end atomic.Int64
	window     time.Duration

	monitor *vitals.Monitor
	held    *collectorHeld
	tcp     *tcpWatch
	readNs  float64 // a reading of the clock takes

	interrupted bool
	early       bool // ended before the window began
}

func newRun(c Config) (*run, error) {
	r := &run{control: newControl(c), scenario: c.Scenario}
	for _, p := range c.Scenario.Parts() {
		if err := check(p.Scenario, c.Entry); err != nil {
			return nil, ofWorkload(p.Name, err)
		}
		ld, err := newLoad(r.control, p)
		if err != nil {
			return nil, ofWorkload(p.Name, err)
		}
		r.loads = append(r.loads, ld)
		r.window = max(r.window, ld.part.From+ld.window)
	}
	r.start.Store(never)
	r.end.Store(never)
	r.fullID = fmt.Sprintf("%08x%08x", r.loads[0].id, rand.Uint32())
	return r, nil
}

// ofWorkload says which of several workloads an error is about.
func ofWorkload(name string, err error) error {
	if name == "" || err == nil {
		return err
	}
	return fmt.Errorf("workload %s: %w", name, err)
}

// openConns returns the open connections of all sessions.
func (r *run) openConns() (all []*transport.Conn) {
	for _, ld := range r.loads {
		for _, d := range ld.session.dialers {
			all = append(all, d.Open()...)
		}
	}
	return all
}

// endsOfConns returns both ends of the open connections that are TCP.
func (r *run) endsOfConns() (all []vitals.Connection) {
	for _, c := range r.openConns() {
		local, ok := c.LocalAddr().(*net.TCPAddr)
		remote, also := c.RemoteAddr().(*net.TCPAddr)
		if ok && also {
			all = append(all, vitals.Connection{Local: local.AddrPort(), Remote: remote.AddrPort()})
		}
	}
	return all
}

// pacers returns the pacers of all loads so far.
func (r *run) pacers() (all []*pacer) {
	for _, ld := range r.loads {
		all = append(all, ld.sending.pacing.list()...)
	}
	return all
}

// close ends the sessions of all loads.
func (r *run) close() error {
	var errs []error
	for _, ld := range r.loads {
		errs = append(errs, ld.session.close())
	}
	return errors.Join(errs...)
}
