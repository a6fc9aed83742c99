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
	"sixnines/internal/relay"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// Control is what a run shares with its loads: what was asked for, where events go, and
// whether the run is over. Loads know nothing else of the run. The run makes it, with
// NewControl. Once a load has begun to connect, what is neither atomic nor a channel is fixed, but for
// Frozen and Observed.
type Control struct {
	*window.Life
	Settings
	event      func(result.Event) // takes an event; safe for concurrent use
	pacedLoads int                // loads with a schedule: they share the budget for spinning
	// Frozen calls each, in order, for the parts of the time between two instants of CLOCK_MONOTONIC in
	// which the process was stopped as a whole; nil: that is not watched. The run's goroutine sets it
	// before senders start. It is safe for concurrent use.
	Frozen func(from, to int64, each func(start, end int64))

	Begins  atomic.Int64          // start of the run's window, CLOCK_MONOTONIC; window.Never until the run fixes it
	Refused chan struct{}         // closed, by any goroutine, when the broker has refused something before that
	refusal atomic.Pointer[error] // what it refused first; the goroutine that stores it then closes Refused

	near      atomic.Pointer[bool] // whether connections stay on this machine; nil: no connection is known
	addressed func() bool          // the same by the broker's address, resolved once; safe for concurrent use

	// Observed is when clients began to leave, CLOCK_MONOTONIC: until then messages could still
	// come. It is the run's goroutine's.
	Observed int64
	// Past gets a value when a load without pacers has sent all of its window; the run's goroutine
	// receives. Its capacity is one, so senders never wait: see SignalPast.
	Past chan struct{}
}

// Settings are what the caller of a run asked for, as far as its loads need it.
type Settings struct {
	Entry       driver.Entry     // the driver
	Url         string           // where the broker is
	Via         *relay.Via       // through which connections are made; nil: they are direct
	Options     map[string]any   // of the driver, behind the scenario's own
	Managed     bool             // the caller started the broker for this run
	SameMachine bool             // the caller says that the broker is on this machine
	DropEvery   int64            // fault injection: every n-th measured message is dropped silently; 0: no message
	Segment     *result.Segment  // which part of each workload the process runs; nil: the whole
	Slices      *schedule.Slices // when the load is due; nil: all the time
	Peers       *Peers           // the other processes, if Segment has a role
	Threads     int              // the most that send on a load's schedule; 0: the number is chosen for the machine
	File        string           // the result's; empty: it is only returned
	Abort       <-chan struct{}  // closed to end the run at once, without a drain; nil: never
	Down        func() error     // why the broker answers no client any more; nil result or nil function: it may still answer
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

// resolveLimit bounds resolving a broker's name.
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

// Refuse ends the run because of what the broker has refused, if the window has not begun; false: it
// has, or the run is over, and the refusal is a fact to be counted. Of several errors the first stays.
// It is safe for concurrent use.
func (c *Control) Refuse(err error) bool {
	if clock.Now() >= c.Begins.Load() || c.Stopped.Load() {
		return false
	}
	if c.refusal.CompareAndSwap(nil, &err) {
		close(c.Refused)
	}
	return true
}

// RefusedEarly returns what the broker refused before the window; nil: nothing. It is safe for
// concurrent use.
func (c *Control) RefusedEarly() error {
	if err := c.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// SignalPast has the run check at once whether all loads are past their windows. It does not block: a
// signal that is not yet received stands for this one, too. It is safe for concurrent use.
func (c *Control) SignalPast() {
	select {
	case c.Past <- struct{}{}:
	default:
	}
}

// SameHost reports whether the broker shares this machine: by connections where the
// engine has made some, else by the address, which may take resolveLimit the first time.
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
// machine is enough. It belongs to the run's goroutine: others only read near.
func (c *Control) Connected(d *transport.Dialer) {
	if here, known := d.Here(); known && (here || c.near.Load() == nil) {
		c.near.Store(&here)
	}
}
