// Package engine runs a scenario against a broker: it provisions, connects,
// warms up, measures, drains and closes the accounts, and writes down what it
// saw while it goes on.
//
// The load is issued on a schedule that the broker cannot slow down. Whatever
// the system under test does, a message is timed from the instant it was due.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/result"
	"sixnines/scenario"
)

// Config is one run.
type Config struct {
	Scenario *scenario.Scenario // normalised and valid
	Entry    driver.Entry
	// URL is where the broker is, if it is not where the scenario says: the
	// caller started one.
	URL string
	// Managed says that the caller started the broker for this run, and how;
	// Deployment, if not nil, what that broker is, for the result's header. It
	// holds no secrets.
	Managed    string
	Deployment *result.Deployment
	// Options are options of the driver that only the caller knows, such as where
	// the broker that it started is monitored; the scenario's own go before them.
	Options map[string]any
	// Usage, if not nil, tells what each of the broker's processes has used
	// since it started. It is called once an interval, from one goroutine.
	Usage func() []Usage
	// SameHost says that the broker runs on this machine. A loopback address
	// is recognised without it.
	SameHost bool
	// File is where the result is written; empty: it is only returned. It must
	// not exist.
	File string
	Tool result.Tool
	// Trial, Floor and Limit, if not nil, go into the result's header as they are.
	Trial *result.Trial
	Floor *result.Floor
	Limit *result.GeneratorLimit
	// Idle is the command line of a process that watches the machine and does
	// nothing else, see vitals.Options; empty: there is none.
	Idle []string
	// Forget makes the senders drop one in so many measured messages without a
	// word, which the accounts must find; 0: none. For trials of the accounts.
	Forget int64
	// Probe is the command line of a process that measures beside the load (its
	// main calls probe.Serve with RunProbe), for scenarios that ask for one; empty:
	// there is none.
	Probe []string
	quiet *quiet // not nil: the run is a probe
	// Pacers is how many threads send on the schedule at most; 0: one for each
	// connection of producers, up to 32.
	Pacers int
	// Observer, if not nil, is told of the run's progress, once an interval.
	// It must not block for long.
	Observer func(Progress)
	// Abort, if not nil, ends the run at once when closed, drain and all; the
	// context's end ends the window early, drains and writes.
	Abort <-chan struct{}
}

// Usage is what one of the broker's processes has used.
type Usage struct {
	Name string        // unique among them; letters, digits and hyphens
	CPU  time.Duration // user and system, since it started
	RSS  int64         // resident memory in bytes
	// Bytes that it made the storage read and take since it started; -1: the
	// system does not tell.
	ReadBytes, WriteBytes int64
	// Missing says that the system tells nothing of the process now: it has
	// ended, or this system never does.
	Missing bool
	// Ended is when the process ended by itself, with a monotonic reading, and
	// Death how; zero and empty: it did not.
	Ended time.Time
	Death string
}

// Progress is what the last interval was like.
type Progress struct {
	Phase string // "connect", "warm-up", or the phases of result.Interval
	// Workloads are, from the window's start on, what the last interval of each of
	// several named workloads was like, in their order; the rest is then of the run and
	// has no figures.
	Workloads  []Progress
	Workload   string // of several; an element of Workloads
	Background bool
	Begins     time.Duration // until the workload's own window begins; 0: it has
	Elapsed    time.Duration // since the start of the phase
	Left       time.Duration // of the phase as planned; 0 if that is not known
	Metric     result.Metric // which Count, P50, P99 and Max are of
	Count      int64         // messages resolved in the interval
	Sent       float64       // messages a second
	Asked      float64       // messages a second due; 0 flat out
	InFlight   int64
	Backlog    int64
	// P50 and P99 are of the interval's messages, the refused ones above all
	// others: result.Refused where these reach them.
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
	Counters result.Counters // since the start of the window
	// Until is how exactly the percentile is known that the run goes on for, and
	// how exactly it is to be; empty: it goes on for none.
	Until string
}

// Error classes of Run, besides those of package driver.
var (
	// ErrUsage: the scenario asks for what this driver cannot do.
	ErrUsage = errors.New("impossible scenario")
	// ErrAborted: the run was ended at once; what was written is a cut-short
	// result.
	ErrAborted = errors.New("aborted")
)

// Run executes c. ctx's end ends the measured window early: the run drains,
// writes and returns a result marked as interrupted. The returned error wraps
// ErrUsage for what the user must change, an error class of package driver, or
// ErrAborted. One process can run one scenario at a time in good conscience;
// nothing prevents more.
func Run(ctx context.Context, c Config) (*result.Run, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	return r.execute(ctx)
}

// Check refuses, with an error that wraps ErrUsage, what the driver cannot do
// with the normalised scenario s. Run does it before anything is connected.
func Check(s *scenario.Scenario, e driver.Entry) error {
	for _, p := range s.Parts() {
		if err := check(p.Scenario, e); err != nil {
			return ofWorkload(p.Name, err)
		}
	}
	return nil
}

// check is Check of a scenario with one workload.
func check(s *scenario.Scenario, e driver.Entry) error {
	w, can := &s.Workload, e.Capabilities
	refuse := func(format string, a ...any) error {
		return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, a...))
	}
	switch {
	case w.Pattern == scenario.RequestReply && !can.RequestReply:
		return refuse("driver %s has no request–reply; use pattern roundtrip, where every producer receives its own messages", e.Name)
	case w.Groups > 0 && !can.Groups:
		return refuse("driver %s has no consumer groups; leave workload.groups out", e.Name)
	case w.Groups == 0 && w.Consumers > w.Topics && w.Pattern != scenario.RequestReply && !can.FanOut:
		return refuse("driver %s gives a message to one consumer only; set workload.groups to 1, or as many topics as consumers", e.Name)
	case !w.Keys.IsZero() && !can.Keys:
		return refuse("messages of driver %s have no keys, as records of Kafka have; leave workload.keys out, or use driver kafka", e.Name)
	case !w.Headers.IsZero() && !can.Headers:
		return refuse("messages of driver %s carry no headers; leave workload.headers out, or use a driver of which sixnines drivers show says that it can", e.Name)
	case !w.Consumer.From.IsZero() && !can.Keeps:
		return refuse("driver %s keeps nothing for consumers that are not connected, so those that come late would miss what was sent before; leave workload.consumer.from (--consumers-from) out, or choose a driver that stores messages: sixnines drivers", e.Name)
	case s.Target.TLS != nil && !can.TLS:
		return refuse("driver %s has no TLS; leave target.tls out", e.Name)
	case w.Consumer.Ack != "" && w.Consumer.Ack != "none" && !can.ConsumerAck && w.Pattern != scenario.Publish:
		return refuse("consumers of driver %s acknowledge nothing to the broker; leave workload.consumer.ack out", e.Name)
	case w.Loop == scenario.Closed && w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone && !can.AckVaries:
		return refuse("a closed loop waits for an answer, and a publish through driver %s has none; use pattern deliver, roundtrip or request-reply", e.Name)
	}
	_, err := loadMaterial(w.Payload)
	return err
}
