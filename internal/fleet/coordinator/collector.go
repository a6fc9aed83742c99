package coordinator

import (
	"time"

	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// Divider divides a scenario between agents.
type Divider interface {
	// Divide returns the segment of each of the agents, in their order. s is normalised and valid, and not
	// changed. An error says why the agents cannot share it: there are too few of a role, for example.
	Divide(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error)
}

// Collector takes what the agents of a run recorded. Its methods are called from one goroutine: Begin, then
// Collect for each record, then Finish. An error ends the run, and nothing is confirmed: the agents and the
// stream keep the records.
type Collector interface {
	// Begin is called when the start has been given.
	Begin(s *Started) error
	// Collect takes record number (from 0, without a gap, each once) of an agent, which is its index in
	// Started.Members. Records of different agents come in any order. record is valid until it returns.
	Collect(agent int, number uint64, record []byte) error
	// Finish is called after the last record, with how each agent ended, in the order of
	// Started.Members. When it returns nil the records are part of a result, and the agents need not keep them.
	Finish(ends []End) error
}

// Started is a run that has been given its start.
type Started struct {
	Run      string
	Scenario *scenario.Scenario // nil: another coordinator has given the start
	Members  []Member
	// Clock is the coordinator's clock, see wire.Hello, and Start the common instant on it, ns.
	Clock string
	Start int64
	// Leads is what the first of the agents that made any such thing made at the system under test, and of which that has a leader; nil: no
	// action is on leaders, none of it has any, or another coordinator has given the start.
	Leads *wire.Destination
}

// Member is an agent of a run.
type Member struct {
	wire.Hello
	Segment wire.Segment
	// Offset is the agent's clock less the coordinator's when the start was given, ns; the true one is within
	// Offset ± Bound. With one clock both are 0.
	Offset, Bound int64
}

// End is how an agent's part of a run ended.
type End struct {
	Ending wire.Ending
	Why    string // for people; empty if it completed
	// Records is how many records were collected, and Missing how many more the agent is known to have made.
	Records, Missing uint64
	// Late is how long after the common start it began, on its own clock.
	Late time.Duration
	// Proved is how wrong the common start on its clock was at most, ns.
	Proved int64
	// Heard is the instant, on the coordinator's clock, at which it was heard of last.
	Heard int64
	// Clock is how its clock was followed; nil: all agents have one clock, no message comes from one to another, or another
	// coordinator gave the start.
	Clock *Followed
}
