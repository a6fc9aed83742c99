package sixnines

import (
	"context"
	"errors"

	"sixnines/internal/engine"
	"sixnines/result"
)

// Option changes how a scenario is run, not what it says.
type Option struct{ set func(*engine.Config) }

// WithFile writes the result to a file as well: JSON lines, flushed every
// interval, so that a run that is killed is readable up to its last second. The
// file must not exist. Without it the result is only returned.
// Scenario.Record.Raw needs a file: it is written beside it.
func WithFile(path string) Option {
	return Option{func(c *engine.Config) { c.File = path }}
}

// WithURL sets the broker's address instead of the scenario's: a test's broker has a
// new address each time. The scenario in the result keeps its own address.
func WithURL(url string) Option {
	return Option{func(c *engine.Config) { c.URL = url }}
}

// WithSameHost says that the system under test runs on this machine, if its address
// does not show that. The result records it, and the generator spins less, to leave
// the processor to the system. Loopback addresses are recognised without this option.
func WithSameHost() Option {
	return Option{func(c *engine.Config) { c.SameHost = true }}
}

// WithObserver makes the run call observe with its progress, once an interval
// (scenario.Record.Interval) and when a phase begins. Calls come from goroutines
// of the run, never two at a time. observe should return within milliseconds: the
// next interval waits for it, the load does not.
func WithObserver(observe func(Progress)) Option {
	return Option{func(c *engine.Config) {
		c.Observer = func(p engine.Progress) { observe(progressOf(p)) }
	}}
}

// WithAbort ends the run at once when abort is closed, as the end of Run's context with
// the cause [ErrAborted] does. It also ends a run that drains because its context has
// ended already: a context ends only once.
func WithAbort(abort <-chan struct{}) Option {
	return Option{func(c *engine.Config) { c.Abort = abort }}
}

// run executes c. If ctx ends with the cause ErrAborted, the run ends at once.
func run(ctx context.Context, c engine.Config) (*result.Run, error) {
	abort, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	given := c.Abort
	c.Abort = abort
	go func() {
		done := ctx.Done()
		for {
			select {
			case <-done:
				if !errors.Is(context.Cause(ctx), ErrAborted) {
					done = nil // the run drains; only given can abort it now
					continue
				}
			case <-given:
			case <-ended:
				return
			}
			close(abort)
			return
		}
	}()
	return engine.Run(ctx, c)
}
