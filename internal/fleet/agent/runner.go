package agent

import (
	"context"

	"sixnines/driver"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// Plan is a plan that this agent allows.
type Plan struct {
	Run string
	// Scenario is the whole scenario, normalised and valid, with the values of its variables.
	Scenario *scenario.Scenario
	Entry    driver.Entry
	Segment  wire.Segment
	// Dir is a directory for what the runner writes. The agent removes it when the coordinator has confirmed
	// all records.
	Dir string
}

// Runner carries out plans, one at a time.
type Runner interface {
	// Load returns what of the plan falls to its segment. An error says why the plan cannot be carried
	// out here. Nothing is connected; Dir is empty.
	Load(p *Plan) (Load, error)
	// Run carries out the plan. The end of ctx ends the window early: what is in flight is then
	// awaited, and Run returns as usual.
	Run(ctx context.Context, p *Plan, s Stage) error
}

// Load is what a segment of a scenario takes at most.
type Load struct {
	// Rate is the most messages a second at any instant, over all workloads; +Inf: as fast as possible.
	Rate float64
	// Size is the largest payload in bytes.
	Size int64
	// Connections are the most that are open at a time, over all workloads, those beside the load included.
	Connections int64
}

// Stage is what a run has of its agent. Its methods are safe for concurrent use.
type Stage interface {
	// Reach says that the run has come to a point, and waits until all agents of the run are there. At
	// [wire.Ready] it returns the instant of the common start on this machine's monotonic clock
	// (clock.Now), which is ahead by the scenario's warm-up and more; else 0. A run may come to a later point without
	// one before it. An error says why the run is not to go on. At [wire.Closed] there
	// is none: it does not wait for agents that died.
	Reach(ctx context.Context, p wire.Point) (start int64, err error)
	// Shift is how far this machine's monotonic clock is ahead of the run's when it reads now, ns, as far as is known, and
	// whether the agents have several clocks. It does not block.
	Shift(now int64) (ahead int64, several bool)
	// Leads says what this agent made at the system under test and of which that has a leader. The coordinator needs it at
	// [wire.Ready] where the scenario has actions on leaders.
	Leads(d wire.Destination)
	// Began says how long after the common start the run began, ns, by the same clock.
	Began(late int64)
	// Record keeps a record, of at most [wire.MaxRecord] bytes, and sends it. Records are numbered from 0 in the order
	// of the calls. It returns when the record is in a file; it does not wait for the network. record is not kept.
	Record(record []byte) error
	// Abort is closed if the run is to end at once, without awaiting what is in flight.
	Abort() <-chan struct{}
}
