package engine

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/transport"
	"sixnines/internal/vitals"
)

// control is what a run shares with its loads: what was asked for, where events
// go, and whether the run is over. Loads know nothing else of the run.
type control struct {
	config     Config
	out        *output
	pacedLoads int // they share the budget for spinning
	// frozen calls each, in order, for the parts of the time between two instants in which
	// the process was stopped as a whole; nil: nobody watches.
	frozen func(from, to int64, each func(start, end int64))

	breath  breath         // the collector's
	precise *clock.Precise // for goroutines without a thread of their own

	begins  atomic.Int64  // start of the run's window, CLOCK_MONOTONIC; far off until known
	refused chan struct{} // closed when the broker has refused something before it
	refusal atomic.Pointer[error]

	near      atomic.Pointer[bool] // whether connections stay on this machine; nil: none is known
	addressed func() bool          // the same by the broker's address, asked once

	stopped  atomic.Bool
	stop     chan struct{} // closed with stopped
	stopOnce sync.Once
	observed int64 // when clients began to leave: until then messages could still come; the run's
	// past is signalled when a load without pacers has sent all of its window. Its
	// capacity is one.
	past chan struct{}
}

// stopSlice is how long a waiting goroutine sleeps at a time, in ns, so that the
// end of the run is noticed.
const stopSlice = 20_000_000

// resolveLimit is how long finding the addresses of a broker's name may take.
const resolveLimit = 2 * time.Second

func newControl(c Config) *control {
	all := &control{config: c, precise: newPrecise(c), stop: make(chan struct{}), past: make(chan struct{}, 1), refused: make(chan struct{})}
	all.begins.Store(never)
	all.addressed = sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), resolveLimit)
		defer cancel()
		return vitals.OnThisMachine(ctx, all.brokerURL())
	})
	return all
}

// refuse ends the run because of what the broker has refused, if the window has not begun: in
// it, a refusal is a fact to be counted. It reports whether the window has not. It is
// safe for concurrent use.
func (c *control) refuse(err error) bool {
	if clock.Now() >= c.begins.Load() || c.stopped.Load() {
		return false
	}
	if c.refusal.CompareAndSwap(nil, &err) {
		close(c.refused)
	}
	return true
}

// refusedEarly is what the broker refused before the window; nil: nothing.
func (c *control) refusedEarly() error {
	if err := c.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// stopAll tells senders and what watches them to stop.
func (c *control) stopAll() {
	c.stopOnce.Do(func() {
		c.stopped.Store(true)
		close(c.stop)
	})
}

// life returns a context that ends with the run.
func (c *control) life() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-c.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// tellPast has the run check at once whether all loads are past their windows.
func (c *control) tellPast() {
	select {
	case c.past <- struct{}{}:
	default:
	}
}

// sleepUntil waits without pacing's precision; false if the run is over.
func (c *control) sleepUntil(t int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if c.stopped.Load() {
			return false
		}
		time.Sleep(time.Duration(min(t-now, stopSlice)))
	}
	return !c.stopped.Load()
}

func (c *control) progress(p Progress) {
	if c.config.Observer != nil {
		c.config.Observer(p)
	}
}

// brokerURL is where the broker is.
func (c *control) brokerURL() string {
	return cmp.Or(c.config.URL, c.config.Scenario.Target.URL, c.config.Entry.DefaultURL)
}

// sameHost reports whether the broker shares this machine: by connections where the
// engine has made some, else by the address.
func (c *control) sameHost() bool {
	if c.config.SameHost || c.config.Managed != "" || c.config.Entry.Capabilities.Brokerless {
		return true
	}
	if near := c.near.Load(); near != nil {
		return *near
	}
	return c.addressed()
}

// connected notes where a session's connections lead. One of several that stays on this
// machine is enough.
func (c *control) connected(d *transport.Dialer) {
	if here, known := d.Here(); known && (here || c.near.Load() == nil) {
		c.near.Store(&here)
	}
}
