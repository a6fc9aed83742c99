// Package result reads result files. A result file records a run, complete
// enough to compute every published figure again.
//
// A result file is JSON lines, one record a line: a [Header], an [Interval] every
// Header.Interval, an [Event] when something happened, and a [Summary] at the end. A run
// with several named workloads has a header and a summary for each, and each interval
// names its workload; see [Run.Parts]. Every interval is flushed, so that the file of a
// killed run is readable up to its last whole interval. A program that rewrites a file
// keeps unknown fields with [Record.Raw]; files of older versions stay readable.
//
// All times are nanoseconds. Instants are relative to the start of the
// measured window, so warm-up is negative.
package result

import (
	"encoding/json"
	"strings"
	"time"

	"sixnines/semantics"
)

// Format and Version identify a result file in its header.
const (
	Format  = "sixnines-result"
	Version = 1
	// VersionWorkloads is the version of a file with several named workloads: a header
	// for each, then records that name their workload, and a summary for each.
	VersionWorkloads = 2
)

// The values of Header.Refusals for brokers that do not refuse message by message. They are
// part of the driver contract, see driver.Refusals.
const (
	RefusalsReported = "reported"
	RefusalsSilent   = "silent"
)

// Header is the first record: what ran, where, and what its numbers mean.
type Header struct {
	Type    string `json:"type"` // "header"
	Format  string `json:"format"`
	Version int    `json:"version"`
	ID      string `json:"id"` // of the run, random, 16 hexadecimal digits
	Name    string `json:"name"`
	// Workload names the workload that the header is of; empty: the run has only
	// one. Scenario is then that of the workload alone. From is when its window
	// begins in that of the run: instants of its intervals count from its own
	// window's start, those of events from the run's. Background says that it is not
	// judged.
	Workload   string          `json:"workload,omitempty"`
	From       time.Duration   `json:"from,omitempty"`
	Background bool            `json:"background,omitempty"`
	Started    time.Time       `json:"started"` // wall clock at the start of the measured window
	Tool       Tool            `json:"tool"`
	Scenario   json.RawMessage `json:"scenario"` // as normalised
	Mode       string          `json:"mode"`     // ModeOpen, ModeClosed, ModeFlatOut or ModeConsume
	Pattern    string          `json:"pattern"`
	Driver     string          `json:"driver"`
	// Revision is the state of what is measured as the user calls it, such as a commit; empty: not given.
	Revision string            `json:"revision,omitempty"`
	Broker   map[string]string `json:"broker,omitempty"` // what the server says of itself
	Managed  string            `json:"managed,omitempty"`
	// Segment says that the file is of one process among several that ran the scenario together: it has the
	// producers, topics and consumers of this segment, and Rate is theirs. Nil: it has them all.
	Segment *Segment `json:"segment,omitempty"`
	// Fleet says that the file merges the results of several processes; nil: it is of one.
	Fleet *Fleet `json:"fleet,omitempty"`
	// Deployment is the broker that was started for the run, if one was.
	Deployment *Deployment `json:"deployment,omitempty"`
	Ack        string      `json:"ack"` // what an acknowledgement is: none, broker, reply
	// Refusals is how a producer learns that the broker refuses its messages, one of
	// driver.Refusals; empty: the result is of an earlier version, or has no producers.
	Refusals string `json:"refusals,omitempty"`
	// SameHost says that broker and generator share this machine's processors.
	SameHost  bool      `json:"same_host"`
	Semantics Semantics `json:"semantics"`
	// Topic is what the first topic is called at the broker. It is part of each message, so that
	// throughput may depend on its length. Empty: it has no name there, or the result is of an
	// earlier version.
	Topic      string      `json:"topic,omitempty"`
	Clock      Clock       `json:"clock"`
	Machine    []Fact      `json:"machine"`
	SetupTimes []SetupTime `json:"cold,omitempty"`
	Rate       float64     `json:"rate"` // asked, messages a second; 0 flat out and in a closed loop
	Size       int64       `json:"size"` // bytes of a payload; where they differ their mean
	// Sizes is how the payloads' sizes are distributed, as scenario.ParseSizes
	// reads it; empty: all are alike.
	Sizes string `json:"sizes,omitempty"`
	// Payload is what payloads are made of, as scenario.ParsePayload reads it;
	// empty: random bytes.
	Payload string `json:"payload,omitempty"`
	// Keys is which keys messages have, as scenario.ParseKeys reads it; empty: none,
	// or what options of the driver say. KeySize is their length in bytes.
	Keys    string `json:"keys,omitempty"`
	KeySize int64  `json:"key_size,omitempty"`
	// Headers is what goes with messages beside their payloads, as
	// scenario.ParseHeaders reads it; empty: nothing.
	Headers  string        `json:"headers,omitempty"`
	Window   time.Duration `json:"window"`
	Interval time.Duration `json:"interval"`
	Slot     time.Duration `json:"slot"` // length of a slot of intended time, see MetricInterval.Slots
	Raw      string        `json:"raw,omitempty"`
	// Trial is the run's place among several that belong together; nil: alone.
	Trial *Trial `json:"trial,omitempty"`
	// Floor is what this machine does to a load like this without a broker, if
	// that was ever measured.
	Floor *Floor `json:"floor,omitempty"`
	// Limit is the highest rate at which this machine's generator was in time under
	// a load of about this size and number of connections, if that was ever measured.
	Limit *GeneratorLimit `json:"generator_limit,omitempty"`
	// Synchronous says that each producer waited for the answer to its message before
	// it sent the next, on a schedule that did not wait; nil: they did not, or the
	// result is of an earlier version.
	Synchronous *Synchronous `json:"synchronous,omitempty"`
	// Objectives are what the run must show, as scenario.ParseObjective reads
	// them.
	Objectives []string `json:"objectives,omitempty"`
	// Until is how exactly the run was to know a percentile before it ended, as
	// scenario.ParseUntil reads it; Window is then its greatest length. Empty:
	// nothing was waited for.
	Until string `json:"until,omitempty"`
	// Network is what the path to the broker was like from before the first connection until the last one was
	// closed, as measured before the load; what was counted is in the event [EventNetwork]. Nil: the run left the
	// path as it was.
	Network *Network `json:"network,omitempty"`
	// Actions is what was to happen in the window, in that order; empty: nothing, or the
	// result is of an earlier version, which has ConsumersFrom and ConsumersPause alone.
	Actions []Action `json:"actions,omitempty"`
	// ConsumersFrom and ConsumersPause say when consumers came and first paused, as
	// scenario.Begin and scenario.Pause read them; empty: they were there all the
	// time.
	ConsumersFrom  string `json:"consumers_from,omitempty"`
	ConsumersPause string `json:"consumers_pause,omitempty"`
	// Stops says that the load ended with its window, and did not go on until
	// everything measured was resolved.
	Stops bool `json:"stops,omitempty"`
	// Existing is the name of what an earlier run had left at the broker and this one
	// used, and LeftAs of what this one left there: topics, groups and the messages in
	// them. Empty: nothing.
	Existing string `json:"existing,omitempty"`
	LeftAs   string `json:"left_as,omitempty"`
	// Sealed says that a summary of the file ends in a [Seal]; false in results of
	// earlier versions.
	Sealed bool `json:"sealed,omitempty"`
}

// Segment is a part of a scenario's workloads.
type Segment struct {
	Index int `json:"index"` // from 0
	Of    int `json:"of"`    // number of segments
	// Role is RoleProbe, or RoleProducers or RoleConsumers where messages are sent by one process and received by another: the
	// process has part Part (from 0) of the Parts of that role. Empty: each process receives what it sends.
	Role  string `json:"role,omitempty"`
	Part  int    `json:"part,omitempty"`
	Parts int    `json:"parts,omitempty"`
}

// The values of Segment.Role.
const (
	RoleProducers = "producers"
	RoleConsumers = "consumers"
	// RoleProbe is that of an agent without a part in the load, which measures beside it. Index and Of number it after the
	// others, Part is 0 and Parts 1.
	RoleProbe = "probe"
)

// Synchronous is what a load of producers that wait for each answer has beside others.
type Synchronous struct {
	// Metric is the service time for which a producer waits. Its Distribution has the
	// correction for Interval.
	Metric Metric `json:"metric"`
	// Interval is the time from one message of a producer to its next by the schedule,
	// ns, above 0: HdrHistogram's expected interval.
	Interval int64 `json:"interval_ns"`
	// Mean says that the schedule's intervals differ, and Interval is their mean.
	Mean bool `json:"mean,omitempty"`
}

// InFlightMetric returns the service time after which a message is no longer in flight:
// that of the acknowledgement if the broker gives one, else of the reply, else of the
// delivery.
func (h *Header) InFlightMetric() Metric {
	switch {
	case h.Ack == "broker":
		return PublishService
	case h.Pattern == "roundtrip", h.Pattern == "request-reply", h.Pattern == "publish" && h.Ack == "reply":
		return RoundTripService
	}
	return DeliveryService
}

// ServiceMetric returns the service time that the load's pattern measures.
func (h *Header) ServiceMetric() Metric {
	switch {
	case h.Pattern == "deliver", h.Pattern == "consume":
		return DeliveryService
	case h.Pattern == "publish" && h.Ack != "reply":
		return PublishService
	}
	return RoundTripService
}

// Trial is a run's place among the runs of a set.
type Trial struct {
	Set  string `json:"set"`  // of all runs that belong together: 16 random hexadecimal digits
	Kind string `json:"kind"` // one of the Trial constants
	// Arm is "A" or "B", or "A2" for the second of a pair with A on both sides; empty for others than those of an ab.
	Arm string `json:"arm,omitempty"`
	// Pair numbers the pairs of an ab from 1; 0 for others.
	Pair int `json:"pair,omitempty"`
	// Replaces is the pair of an ab that this one was made in place of, since a run of
	// that was INVALID; 0: none.
	Replaces int `json:"replaces,omitempty"`
	// Beside says that the run was made at the same time as the other one of its pair: of a study as that of the cell with
	// which its own is compared, in the same round.
	Beside bool `json:"beside,omitempty"`
	// Control says that both runs of the pair are A's: what they differ by is the error of the comparison.
	Control bool `json:"control,omitempty"`
	// Slices says when the load is due, if the runs of the pair are loaded in turn; nil: all the time.
	Slices *Slices `json:"slices,omitempty"`
	// Design says how the runs of an ab, or of two cells of a study that are compared, are made; nil: an older version made
	// the ab, or the study makes the cell alone.
	Design *Design `json:"design,omitempty"`
	Index  int     `json:"index"` // place in the order in which they were run, from 1
	Of     int     `json:"of"`    // runs planned
	// Attempts are the earlier ones at this run, which were begun and did not end well or lost their file, since
	// the series was resumed.
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Attempt is one at a run that was made again.
type Attempt struct {
	Ending string    `json:"ending"`          // one of the Attempt constants
	Began  time.Time `json:"began"`           // wall clock
	Error  string    `json:"error,omitempty"` // why it failed
}

// The values of Attempt.Ending.
const (
	AttemptFailed  = "failed"
	AttemptCut     = "cut"     // its window was ended early
	AttemptKilled  = "killed"  // its process, or the machine, ended without a word
	AttemptStopped = "stopped" // on request, before its window
	AttemptLost    = "lost"    // it was made, and its file was removed or damaged
	AttemptPartner = "partner" // it was made, and the run of its pair that was made at the same time has to be made again
)

// The kinds of Trial.Kind.
const (
	TrialRepeat   = "repeat"
	TrialAB       = "ab"
	TrialCapacity = "capacity" // a run of a search for the highest rate; Of is 0
	TrialSweep    = "sweep"    // the runs of one cell are a set
	TrialShrink   = "shrink"   // a run of a search for the shortest timeline that loses messages; Of is 0
	TrialStudy    = "study"    // the runs of one cell are a set, as in a sweep
)

// Floor is a noise floor: the distribution that a broker which does nothing had
// on this machine.
type Floor struct {
	ID      string    `json:"id"`   // of the run that measured it
	At      time.Time `json:"at"`   // when
	Tool    Tool      `json:"tool"` // by what
	Pattern string    `json:"pattern"`
	Rate    float64   `json:"rate"` // messages a second
	Size    int64     `json:"size"` // bytes of a payload
	// Percentiles are its figures, ns, by metric and percentile.
	Percentiles map[Metric]map[Percentile]int64 `json:"percentiles"`
}

// GeneratorLimit is the highest rate at which a machine's generator was in time
// against a broker that does nothing.
type GeneratorLimit struct {
	At          time.Time `json:"at"`          // when it was measured
	Size        int64     `json:"size"`        // bytes of a payload
	Connections int       `json:"connections"` // of producers
	Rate        float64   `json:"rate"`        // messages a second; 0: not even the first rate that was tried
	// Above is the lowest rate tried at which it was not in time, messages a second;
	// 0: there was none.
	Above float64 `json:"above,omitempty"`
	// Disturbed is what disturbed the machine meanwhile; empty: nothing.
	Disturbed string `json:"disturbed,omitempty"`
}

// Deployment is a broker that was started for the run.
type Deployment struct {
	Product string `json:"product"`
	Version string `json:"version"`
	Origin  string `json:"origin"` // where the product came from: "on PATH", "built in"
	Nodes   int    `json:"nodes"`
	// Addresses are those of the nodes, each in a network namespace of its own; empty: they share one.
	Addresses []string          `json:"addresses,omitempty"`
	Settings  map[string]string `json:"settings,omitempty"` // of the product's own, in effect; passwords are masked
	// FileSystem is what each node's data were on; nil: what the machine has there.
	FileSystem *FileSystem `json:"file_system,omitempty"`
}

// FileSystem is one that was made for a run in an image file on a loop device, so that its power can fail
// and its space end without the machine's.
type FileSystem struct {
	Type  string `json:"type"`  // "ext4"
	Bytes int64  `json:"bytes"` // size of each node's
}

// The modes of Header.Mode.
const (
	ModeOpen    = "open loop"
	ModeClosed  = "closed loop"
	ModeFlatOut = "flat out"
	ModeConsume = "consumers only"
)

// Tool is the program that wrote the file.
type Tool struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
}

// Semantics says what the numbers stand on; the fields are those of
// driver.Semantics. Older files have words alone: no levels, and the client among
// the settings.
type Semantics struct {
	Levels semantics.Levels `json:"levels,omitzero"`
	Client semantics.Client `json:"client,omitzero"`

	Durability     string            `json:"durability"`
	Replication    string            `json:"replication"`
	Acknowledgment string            `json:"acknowledgment"`
	Ordering       string            `json:"ordering"`
	Delivery       string            `json:"delivery"`
	Batching       string            `json:"batching"`
	Consumption    string            `json:"consumption"`
	Transport      string            `json:"transport"`
	Encrypted      bool              `json:"encrypted,omitempty"`
	Settings       map[string]string `json:"settings,omitempty"`
	Warnings       []string          `json:"warnings,omitempty"`
}

// Clock is what the instants were read from.
type Clock struct {
	Source  string        `json:"source"`  // "CLOCK_MONOTONIC"
	Domain  string        `json:"domain"`  // equal domains share the clock
	Bracket time.Duration `json:"bracket"` // uncertainty of its mapping into the process
	ReadNs  float64       `json:"read_ns"` // cost of one reading, measured
	// Start is its reading at the start of the measured window, in ns. It turns instants of the file into those of
	// other programs on this machine, such as the kernel's tracing. 0 in files of older versions and in virtual time.
	Start int64 `json:"start,omitempty"`
	// Shifted says that the messages which the process received were stamped by processes with other clocks. How wrong their
	// latencies are at most, the result of all processes says: see AgentClock.
	Shifted bool `json:"shifted,omitempty"`
	// Service is what the kernel knew of a time service as the header was written; nil: it does not tell, or the result is of an
	// earlier version.
	Service *TimeService `json:"service,omitempty"`
}

// TimeService is what a time service (chrony, ntpd, ptp4l and phc2sys, systemd-timesyncd) has told the kernel of the wall clock, see
// adjtimex(2). It decides no verdict: the monotonic clocks of a fleet are compared by exchanges.
type TimeService struct {
	Synchronised bool    `json:"synchronised"`
	Offset       int64   `json:"offset_ns"`          // that the kernel still slews away
	Frequency    float64 `json:"frequency_ppm"`      // by which it corrects the clock's rate
	MostError    int64   `json:"max_error_ns"`       // as the service estimates it; it grows by 500 ppm until it is told again
	Error        int64   `json:"estimated_error_ns"` // likewise
}

// FactProcessors is the name of the [Fact] that says how many logical processors the generator may use.
const FactProcessors = "processors usable"

// Fact is one line of the machine's fingerprint.
type Fact struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Value   string `json:"value"`
	Note    string `json:"note,omitempty"`
}

// FactNotWatched is the name of a fact about something that is not watched. Its value is the
// vital, or "pause." and the source of pauses; its note says why.
const FactNotWatched = "not watched"

// NotWatched returns why a vital is not watched; empty: it is watched, or the reason is unknown.
func (h *Header) NotWatched(v Vital) (why string) {
	for _, f := range h.Machine {
		if f.Name != FactNotWatched {
			continue
		}
		if f.Value == string(v) {
			why = f.Note
		} else if text, ok := strings.CutPrefix(f.Value, string(v)+": "); ok {
			why = text // earlier versions wrote vital and reason as one value
		}
	}
	return why
}

// SetupTime is a duration measured before the load: connecting, the first message.
type SetupTime struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"duration"`
}

// Record is one line of a result file. Exactly one of Header, Interval, Event and Summary is
// set; for a type that this version does not know, all are nil.
type Record struct {
	Header   *Header
	Interval *Interval
	Event    *Event
	Summary  *Summary
	Counted  *Seal           // the summary's seal computed from the lines read; nil: the summary has no seal
	Raw      json.RawMessage // the whole line
}
