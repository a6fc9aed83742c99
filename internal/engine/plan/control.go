package plan

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
	"sixnines/internal/transport"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// Control is what a run shares with its loads: what was asked for, where events go, and
// whether the run is over. Loads know nothing else of the run. The run makes it, with
// newControl, and changes nothing of it once a load has begun to connect but what it says.
type Control struct {
	*window.Life
	Settings
	event      func(result.Event) // takes an event; safe for concurrent use
	pacedLoads int                // they share the budget for spinning
	// Frozen calls each, in order, for the parts of the time between two instants in which
	// the process was stopped as a whole; nil: nobody watches.
	Frozen func(from, to int64, each func(start, end int64))

	Begins  atomic.Int64  // start of the run's window, CLOCK_MONOTONIC; far off until known
	Refused chan struct{} // closed when the broker has refused something before it
	refusal atomic.Pointer[error]

	near      atomic.Pointer[bool] // whether connections stay on this machine; nil: none is known
	addressed func() bool          // the same by the broker's address, asked once

	// Observed is when clients began to leave, CLOCK_MONOTONIC: until then messages could still
	// come. It is the run's goroutine's.
	Observed int64
	// Past is signalled when a load without pacers has sent all of its window. Its
	// capacity is one.
	Past chan struct{}
}

// Settings are what the caller of a run asked for, as far as its loads need it.
type Settings struct {
	Entry       driver.Entry
	Url         string         // where the broker is
	Options     map[string]any // of the driver, behind the scenario's own
	Managed     bool           // the caller started the broker for this run
	SameMachine bool           // the caller says that the broker is on this machine
	DropEvery   int64          // fault injection: every n-th measured message is dropped silently; 0: none
	Threads     int            // that send on the schedule, at most; 0: as many as suit the machine
	File        string         // the result's; empty: it is only returned
	Abort       <-chan struct{}
}

// DriverOptions are those with which the driver is opened at a target.
func (s *Settings) DriverOptions(t scenario.Target) map[string]any {
	if len(s.Options) == 0 {
		return t.Options
	}
	options := maps.Clone(s.Options)
	maps.Copy(options, t.Options)
	return options
}

// resolveLimit is how long finding the addresses of a broker's name may take.
const resolveLimit = 2 * time.Second

// NewControl returns the control of a run that is not over.
func NewControl(s Settings, v window.Virtual, event func(result.Event)) *Control {
	c := &Control{Life: window.NewLife(v), Settings: s, event: event, Past: make(chan struct{}, 1), Refused: make(chan struct{})}
	c.Begins.Store(window.Never)
	c.addressed = sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), resolveLimit)
		defer cancel()
		return vitals.OnThisMachine(ctx, c.Url)
	})
	return c
}

// Refuse ends the run because of what the broker has refused, if the window has not begun: in
// it, a refusal is a fact to be counted. It reports whether the window has not. It is
// safe for concurrent use.
func (c *Control) Refuse(err error) bool {
	if clock.Now() >= c.Begins.Load() || c.Stopped.Load() {
		return false
	}
	if c.refusal.CompareAndSwap(nil, &err) {
		close(c.Refused)
	}
	return true
}

// RefusedEarly is what the broker refused before the window; nil: nothing.
func (c *Control) RefusedEarly() error {
	if err := c.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// SignalPast has the run check at once whether all loads are past their windows.
func (c *Control) SignalPast() {
	select {
	case c.Past <- struct{}{}:
	default:
	}
}

// SameHost reports whether the broker shares this machine: by connections where the
// engine has made some, else by the address.
func (c *Control) SameHost() bool {
	if c.SameMachine || c.Managed || c.Entry.Capabilities.Brokerless {
		return true
	}
	if near := c.near.Load(); near != nil {
		return *near
	}
	return c.addressed()
}

// Connected notes where a session's connections lead. One of several that stays on this
// machine is enough.
func (c *Control) Connected(d *transport.Dialer) {
	if here, known := d.Here(); known && (here || c.near.Load() == nil) {
		c.near.Store(&here)
	}
}
