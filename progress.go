package sixnines

import (
	"time"

	"sixnines/internal/engine"
	"sixnines/result"
)

// Progress is the progress of a run: its phase, the figures of the last interval, and the
// counters since the window began.
type Progress struct {
	Phase string // "connect", "warm-up", or one of the phases of result.Interval
	// Workloads has an element for each of several named workloads, in their order, from
	// the window's start on. The other fields are then the whole run's, without figures.
	Workloads  []Progress
	Workload   string        // the workload's name, in an element of Workloads
	Background bool          // the workload is recorded and not judged
	Begins     time.Duration // until the workload's own window begins; 0: it has begun
	// LeftAs is the name under which the workload leaves topics and groups at the broker.
	// It is given once, when the run is connected; empty: the workload leaves nothing.
	LeftAs   string
	Elapsed  time.Duration // since the start of the phase
	Left     time.Duration // until the phase's planned end; 0: not known
	Metric   result.Metric // the metric of Count, P50, P99 and Max
	Count    int64         // messages resolved in the interval
	Sent     float64       // messages a second
	Asked    float64       // messages a second due; 0: unpaced
	InFlight int64         // unanswered messages now
	Backlog  int64         // messages due and not sent now
	// Settling says that the warm-up has not reached the scenario's rate yet: it sends
	// single messages, one after the other, until their median, P50, is stable.
	Settling bool
	// P50, P99 and Max are of the interval's messages. Refused messages rank above all
	// others: a percentile that falls among them is result.Refused.
	P50, P99, Max time.Duration
	Counters      result.Counters // since the start of the window
	// Until says how exactly the percentile of scenario.Phases.Until is known, and how
	// exactly it must be; empty: the scenario has no Until.
	Until string
}

// progressOf returns the engine's progress in the form for users.
func progressOf(p engine.Progress) Progress {
	var all []Progress
	for _, w := range p.Workloads {
		all = append(all, progressOf(w))
	}
	return Progress{Phase: p.Phase, Workloads: all, Workload: p.Workload, Background: p.Background, Begins: p.Begins, LeftAs: p.LeftAs,
		Elapsed: p.Elapsed, Left: p.Left, Metric: p.Metric, Count: p.Count, Sent: p.Sent, Asked: p.Asked, InFlight: p.InFlight,
		Backlog: p.Backlog, Settling: p.Settling, P50: p.P50, P99: p.P99, Max: p.Max, Counters: p.Counters, Until: p.Until}
}
