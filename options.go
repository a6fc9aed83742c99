package sixnines

import "sixnines/internal/engine"

// Option changes how a scenario is run, not what it says.
type Option struct{ set func(*engine.Config) }

// WithFile writes the result to a file as well: JSON lines, flushed every
// interval, so that a run that is killed is readable up to its last second. The
// file must not exist. Without it the result is only returned.
// Scenario.Record.Raw needs a file: it is written beside it.
func WithFile(path string) Option {
	return Option{func(c *engine.Config) { c.File = path }}
}

// WithURL says where the broker is, whatever the scenario says: a test's broker
// has another address each time. The scenario in the result keeps its own.
func WithURL(url string) Option {
	return Option{func(c *engine.Config) { c.URL = url }}
}

// WithSameHost says that the system under test runs on this machine, where its
// address does not tell. The result says so, and the generator spins less in
// order to leave it the processor. A loopback address is recognised without.
func WithSameHost() Option {
	return Option{func(c *engine.Config) { c.SameHost = true }}
}

// Progress tells how a run is getting on: its phase, what the last interval was
// like, and the counters since the window began. It is an alias so that it can
// be named here; its fields are part of this package's promise:
//
//	Phase            string          // "connect", "warm-up", "measure", "drain", …
//	Elapsed, Left    time.Duration   // of the phase; Left is 0 if not known
//	Metric           result.Metric   // which Count, P50, P99 and Max are of
//	Count            int64           // messages resolved in the interval
//	Sent, Asked      float64         // messages a second, sent and due
//	InFlight         int64           // unanswered now
//	Backlog          int64           // due and not sent now
//	P50, P99, Max    time.Duration   // of the interval
//	Counters         result.Counters // since the start of the window
type Progress = engine.Progress

// WithObserver has observe called with the run's progress, once an interval
// (scenario.Record.Interval) and when a phase begins, on a goroutine of the
// run's; never twice at a time. It should return within milliseconds: the next
// interval waits for it, the load does not.
func WithObserver(observe func(Progress)) Option {
	return Option{func(c *engine.Config) { c.Observer = observe }}
}

// WithAbort ends the run at once when abort is closed: no waiting for
// outstanding messages. The error wraps [ErrAborted]; what was measured until
// then is returned and written. To end the window early and keep a whole
// result, end Run's context instead.
func WithAbort(abort <-chan struct{}) Option {
	return Option{func(c *engine.Config) { c.Abort = abort }}
}
