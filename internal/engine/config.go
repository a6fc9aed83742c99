package engine

import (
	"context"
	"net/netip"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/watch"
	"sixnines/internal/engine/window"
	"sixnines/internal/relay"
	"sixnines/result"
	"sixnines/scenario"
)

// Config is one run.
type Config struct {
	Scenario *scenario.Scenario // normalised and valid
	Entry    driver.Entry
	// URL is the broker's address, if it is not the scenario's: the caller started
	// the broker.
	URL string
	// Managed says that the caller started the broker for this run, and how; empty: it did not.
	// Deployment, if not nil, says what that broker is, for the result's header. It
	// holds no secrets.
	Managed    string
	Deployment *result.Deployment
	// Options are options of the driver that only the caller knows, such as where
	// the broker that it started is monitored; the scenario's own go before them.
	Options map[string]any
	// Usage, if not nil, returns what each of the broker's processes has used
	// since it started. It is called once an interval, from one goroutine at a time.
	Usage func() []Usage
	// Down, if not nil, returns why the broker answers no client any more, and nil while it may answer. It is called when
	// the load is over, so that nothing waits for a broker that stays down.
	Down func() error
	// SameHost says that the broker runs on this machine. A loopback address
	// is recognised without it.
	SameHost bool
	// File is where the result is written; empty: it is only returned. It must
	// not exist.
	File string
	Tool result.Tool
	// Revision goes into the result's header as it is.
	Revision string
	// Trial, Floor and Limit, if not nil, go into the result's header as they are. Loads are due in Trial.Slices.
	Trial *result.Trial
	Floor *result.Floor
	Limit *result.GeneratorLimit
	// Idle is the command line of a process that watches the machine and does
	// nothing else, see vitals.Options; empty: no such process is started.
	Idle []string
	// DropEvery is fault injection for trials of the accounts: every n-th measured message is
	// dropped silently, which they must find; 0: no message.
	DropEvery int64
	// Probe is the command line of a process that measures beside the load (its
	// main calls probe.Serve with prober.Run), for scenarios that ask for one; empty:
	// no probe can run.
	Probe []string
	// Virtual, if not nil, has the run be in virtual time.
	Virtual window.Virtual
	// Segment, if not nil, is which part of each workload this process runs: other processes run the others
	// beside it, each with producers, topics and consumers of its own.
	Segment *result.Segment
	// Peers are the other processes, if Segment has a role; else nil.
	Peers *Peers
	// Start, if not nil, is called when the load could begin, from the run's goroutine, and returns when its
	// window begins, CLOCK_MONOTONIC: at earliest or later. Processes that run segments of one scenario begin
	// at one instant. Its error ends the run.
	Start func(ctx context.Context, earliest int64) (int64, error)
	// Pacers is the most threads that send on a load's schedule; 0: one for each
	// connection of producers, up to two for each processor and 32 a load. A load begins with
	// one, and more are added when these have too much to do.
	Pacers int
	// Doer, if not nil, is asked first for what does an act of the plan, such as one that happens to
	// the broker, which the engine does not know; it returns nil for an act that the engine is to do
	// itself. It is called before anything is connected, and Run wraps its error in ErrUsage.
	Doer func(a *scenario.Act) (actions.Doer, error)
	// Path is the path to the broker with the conditions of the scenario's network, which the caller has put into
	// effect; nil: the scenario has no network.
	Path Path
	// Via is a relay through which all connections are made that the engine dials; nil: they are direct.
	Via *relay.Via
	// Provisioned, if not nil, is called before the load with what names the broker's destinations of a
	// workload (empty name: the only one), for each whose driver can. Actions may need the leader of one.
	Provisioned func(workload string, d driver.DestinationNamer)
	// Connected, if not nil, is called once, when all loads are connected and before they warm up. ends returns the
	// addresses to which producers and consumers have connected so far, as far as the engine dials for them; it is safe for
	// concurrent use.
	Connected func(ends func() []netip.AddrPort)
	// Observer, if not nil, is called with the run's progress once an interval, from one goroutine at
	// a time. It must not block for long: it holds up the collector.
	Observer func(Progress)
	// Exporter, if not nil, gets what the run records.
	Exporter Exporter
	// Abort, if not nil, ends the run at once when it is closed, without a drain. The context's end, in
	// contrast, ends the window early; the run then drains and writes.
	Abort <-chan struct{}
}

// Path is a path whose conditions hold for the whole run. The run's goroutine calls its methods.
type Path interface {
	// Network says what the path is like before the load.
	Network() *result.Network
	// End takes the conditions away, and returns what was counted. The run's connections are closed.
	End() (*result.Network, error)
}

// NetworkOver takes the conditions of a path away, and returns the event of that.
func NetworkOver(p Path) result.Event {
	network, err := p.End()
	e := result.Event{At: clock.Now(), Kind: result.EventNetwork, Detail: "the network conditions have been removed", Network: network}
	if err != nil {
		e.Kind, e.Detail = result.EventError, "the network conditions could not be removed: "+err.Error()
	}
	return e
}

// Exporter gets what a run records while it goes on, from one goroutine at a time. It must not block for
// long: it holds up the collector. What it gets is valid until it returns.
type Exporter interface {
	// Begin is called once, before the load: with the header of each workload.
	Begin(headers []result.Header)
	// Interval is called for each interval of each workload. added visits the buckets of
	// the values that were recorded in it: their edges, ns, both inclusive, and the number of
	// values in each.
	Interval(v *result.Interval, added func(visit func(m result.Metric, low, high, count int64)))
}

// Peers are the processes of a run in which messages are sent by one process and received by another.
type Peers = plan.Peers

// Point is a point of a run at which peers wait for each other, see package plan.
type Point = plan.Point

// The points, see package plan.
const (
	PointProvisioned = plan.PointProvisioned
	PointConnected   = plan.PointConnected
	PointArrived     = plan.PointArrived
	PointClosed      = plan.PointClosed
)

// Usage is what one of the broker's processes has used.
type Usage = watch.Usage

// Progress describes the last interval.
type Progress struct {
	Phase string // "connect", "warm-up", or the phases of result.Interval
	// Workloads describe, from the window's start on, the last interval of each of
	// several named workloads, in their order; the other fields are then the run's, and
	// have no figures.
	Workloads  []Progress
	Workload   string        // name of the workload, in an element of Workloads
	LeftAs     string        // name of what the workload leaves at the broker; set once, when it is connected
	Background bool          // its verdict does not count
	Begins     time.Duration // until the workload's own window begins; 0: it has begun
	Elapsed    time.Duration // since the start of the phase
	Left       time.Duration // of the phase as planned; 0: not known
	Metric     result.Metric // the metric of Count, P50, P99 and Max
	Count      int64         // messages resolved in the interval
	Sent       float64       // messages a second
	Asked      float64       // messages a second due; 0: unpaced
	InFlight   int64         // messages sent and not resolved
	Backlog    int64         // messages due and not sent
	// Settling says that the warm-up does not have the scenario's rate yet: single messages are
	// sent, one after the other, until their median, which is P50, has stopped falling.
	Settling bool
	// P50 and P99 are of the interval's messages. Refused ones rank above all
	// others: result.Refused where a percentile is among them.
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
	Counters result.Counters // since the start of the window
	// Until says how exactly the percentile that the run waits for is known, and how exactly it is to
	// be; empty: the window's length is fixed.
	Until string
}

// Error classes of Run, besides those of package driver: see plan.
var (
	ErrUsage   = plan.ErrUsage
	ErrAborted = plan.ErrAborted
)
