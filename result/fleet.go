package result

import (
	"slices"
	"strings"
	"time"
)

// Fleet is what ran a scenario together, each agent a segment.
type Fleet struct {
	Agents []Agent `json:"agents"` // in the order of their segments
	// Bound is [BoundExpected] if one-way latencies are judged by [AgentClock].Expected where Proved says nothing of them, as the
	// scenario asks; empty: by Proved alone.
	Bound string `json:"bound,omitempty"`
	// Probe is the agent that had no part in the load and measured the broker beside it, see [ProbeService]; nil: none did.
	Probe *FleetProbe `json:"probe,omitempty"`
}

// BoundExpected is a value of Fleet.Bound.
const BoundExpected = "expected"

// FleetProbe is an agent that only measures beside a load.
type FleetProbe struct {
	Name   string `json:"name"`
	ID     string `json:"id"` // of its result, see Header.ID
	Host   string `json:"host,omitempty"`
	Domain string `json:"clock_domain"` // see Clock.Domain
	// Lost says that its result has no end: it was killed, or could not be reached any more. Which of its messages were never
	// answered is then not known, and its figures are compared with nothing.
	Lost bool `json:"lost,omitempty"`
}

// agentsSuffix ends the names of directories that have results of agents.
const agentsSuffix = ".agents"

// AgentsDir is the directory beside a merged result that has the results of the agents.
func AgentsDir(file string) string { return strings.TrimSuffix(file, ".jsonl") + agentsSuffix }

// IsAgentsDir reports whether a directory has results of agents, by its name.
func IsAgentsDir(name string) bool { return strings.HasSuffix(name, agentsSuffix) }

// Incomplete reports whether the result of some agent has no end. It may be called on nil, which is no fleet.
func (f *Fleet) Incomplete() bool {
	return f != nil && slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.Lost })
}

// EndedTogether is how far apart the windows of agents may end that were stopped by one command, which does not reach all
// of them at once.
const EndedTogether = time.Second

// Unfinished reports whether an agent did not do all that it had due in a window that ended at end, ns from its start:
// its result has no end, or it was stopped before the others. What it had due from then on counts as not sent.
func (a *Agent) Unfinished(end int64) bool { return a.Lost || a.End < end-int64(EndedTogether) }

// Uneven reports whether the windows of some agents ended before those of others. It may be called on nil, too.
func (f *Fleet) Uneven() bool {
	return f != nil && slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.End != f.Agents[0].End })
}

// Agent is one process of a fleet, and what its own result says.
type Agent struct {
	Name    string  `json:"name"`
	ID      string  `json:"id"` // of its result, see Header.ID
	Segment Segment `json:"segment"`
	Host    string  `json:"host,omitempty"` // the name of its machine
	Domain  string  `json:"clock_domain"`   // see Clock.Domain
	// Started is when its window began, by its machine's wall clock.
	Started time.Time `json:"started"`
	// Start is when its window began, by the clock of the run; nil: it is not known.
	Start *AgentStart `json:"start,omitempty"`
	// End is when its window ended, ns from its start: that of the whole, or sooner if it was interrupted.
	End int64 `json:"window_end"`
	// Lost says that its result has no end: it was killed, or could not be reached any more. What its
	// segment had due after its last record counts as not sent.
	Lost bool `json:"lost,omitempty"`
	// Status is of its own verdict, and Codes of the reasons in it; without these if it is lost. What messages of other clocks make of
	// its latencies is no part of it: alone it does not know that.
	Status Status       `json:"status,omitempty"`
	Codes  []ReasonCode `json:"codes,omitempty"`
	Sent   int64        `json:"sent"` // messages of the window
	// Latencies are of what it recorded itself, by metric.
	Latencies map[Metric]AgentLatency `json:"latencies,omitempty"`
	SHA256    string                  `json:"sha256,omitempty"` // Seal.SHA256 of its result
	// Broker has the facts of Header.Broker that not all agents state alike, such as the name of the server that this one reached.
	// Semantics are this agent's where they are not the header's; nil: they are.
	Broker    map[string]string `json:"broker,omitempty"`
	Semantics *Semantics        `json:"semantics,omitempty"`
	// Service is what its machine's kernel knew of a time service as it began; nil: it does not tell.
	Service *TimeService `json:"service,omitempty"`
	// Clock is how its clock was followed, where messages come from agents with other clocks; nil: all have one.
	Clock *AgentClock `json:"clock,omitempty"`
}

// AgentStart is when the window of an agent began. The common start was sent ahead, on the agent's own clock as far as that
// was known.
type AgentStart struct {
	Late   int64 `json:"late_ns"`   // after the common start, on the agent's clock
	Proved int64 `json:"proved_ns"` // how wrong the common start on that clock was at most
}

// AgentClock is how the clock of an agent was compared with the coordinator's during a run. Messages carry instants of the
// coordinator's clock, which agents compute from their own.
type AgentClock struct {
	Offset int64   `json:"offset_ns"` // the agent's clock less the coordinator's, at the start of the window
	Drift  float64 `json:"drift"`     // how much it gained on that, as a share: 1e-6 is 1 ppm
	// Proved is how wrong an instant of the agent was at most, ns, whatever the ways of questions and answers took. Expected is
	// the same if both ways of the fastest exchanges differ by at most a tenth of their round trip.
	Proved   int64 `json:"proved_ns"`
	Expected int64 `json:"expected_ns"`
	// Raw says that what is followed are the raw clocks of both machines, which nobody slews, and how the monotonic ones go against
	// them. Else Proved rests on that no clock changes its rate by more than 10 ppm in a second.
	Raw bool `json:"raw,omitempty"`
	// RoundTrip is the shortest time that an exchange took on the way, ns, and Exchanges how many there were. Of Kernel of them all
	// instants are the kernels' time stamps.
	RoundTrip int64 `json:"round_trip_ns"`
	Exchanges int64 `json:"exchanges"`
	Kernel    int64 `json:"kernel,omitempty"`
	// Loop is the most by which what this agent and others found of each other's clocks, asking directly, differs from what the
	// coordinator's comparisons with both say, ns: what is left over in a loop over three clocks. Loops is how often that was
	// compared; 0: the agents found no way to each other.
	Loop  int64 `json:"loop_ns,omitempty"`
	Loops int64 `json:"loops,omitempty"`
	// Open says that Loop was more than ways explain that differ by a tenth of their round trip. Which of the three is not
	// symmetric, a loop does not tell: Expected is then larger by Loop, and Proved at most.
	Open bool `json:"loop_open,omitempty"`
	// Unknown says that the clock stepped, that it was not followed for a time, or that not even what is proved agrees over three
	// clocks: the bounds do not hold.
	Unknown bool `json:"unknown,omitempty"`
}

// OneWay returns how wrong a latency from one agent to another is at most, ns: proved, and expected if ways are symmetric, see
// [AgentClock]. crosses says that messages come from agents with other clocks, known that the bounds hold.
func (f *Fleet) OneWay() (proved, expected int64, crosses, known bool) {
	worst := map[string]AgentClock{}
	known = true
	for _, a := range f.Agents {
		if a.Clock == nil {
			continue
		}
		crosses, known = true, known && !a.Clock.Unknown
		w := worst[a.Segment.Role]
		w.Proved, w.Expected = max(w.Proved, a.Clock.Proved), max(w.Expected, a.Clock.Expected)
		worst[a.Segment.Role] = w
	}
	for _, w := range worst {
		proved, expected = proved+w.Proved, expected+w.Expected
	}
	return proved, expected, crosses, known
}

// AgentLatency is a latency as one agent recorded it, ns. Percentiles are nearest ranks, of the messages that
// were answered.
type AgentLatency struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}
