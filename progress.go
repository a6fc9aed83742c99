package sixnines

import (
	"time"

	"sixnines/internal/engine"
	"sixnines/result"
)

// Progress tells how a run is getting on: its phase, the last interval, and the counters
// since the window began.
type Progress struct {
	Phase string // "connect", "warm-up", or one of the phases of result.Interval
	// Workloads are those of several named workloads, in their order, from the window's
	// start on. The other fields are then the run's, without figures.
	Workloads  []Progress
	Workload   string        // its name, in an element of Workloads
	Background bool          // the workload is recorded and not judged
	Begins     time.Duration // until the workload's own window begins; 0: it has
	// LeftAs is the name of what the workload leaves at the broker. It is given once,
	// when the run is connected; empty: it leaves nothing.
	LeftAs   string
	Elapsed  time.Duration // since the start of the phase
	Left     time.Duration // of the phase as planned; 0: that is not known
	Metric   result.Metric // which Count, P50, P99 and Max are of
	Count    int64         // messages resolved in the interval
	Sent     float64       // messages a second
	Asked    float64       // messages a second due; 0 flat out
	InFlight int64         // unanswered now
	Backlog  int64         // due and not sent now
	// Settling says that the warm-up has not reached the scenario's rate: single
	// messages are sent, one after the other, until their median, P50, holds.
	Settling bool
	// P50, P99 and Max are of the interval's messages. Refused ones rank above all
	// others: P50 and P99 are result.Refused where they are among them.
	P50, P99, Max time.Duration
	Counters      result.Counters // since the start of the window
	// Until says how exactly the percentile is known for which the run goes on, and how
	// exactly it is to be; empty: it goes on for none.
	Until string
}

// progressOf is what the engine tells, for users.
func progressOf(p engine.Progress) Progress {
	var all []Progress
	for _, w := range p.Workloads {
		all = append(all, progressOf(w))
	}
	return Progress{Phase: p.Phase, Workloads: all, Workload: p.Workload, Background: p.Background, Begins: p.Begins, LeftAs: p.LeftAs,
		Elapsed: p.Elapsed, Left: p.Left, Metric: p.Metric, Count: p.Count, Sent: p.Sent, Asked: p.Asked, InFlight: p.InFlight,
		Backlog: p.Backlog, Settling: p.Settling, P50: p.P50, P99: p.P99, Max: p.Max, Counters: p.Counters, Until: p.Until}
}
