// Package scenario says what to run: which broker, which load, for how long,
// and what to write down.
//
// A [Scenario] is written as YAML ([Parse], [ParseFile]), in Go, or comes from
// command-line flags laid over either ([Scenario.Apply]). Reading is strict: an
// unknown key, a number without its unit, a value out of range is an [Error]
// that names file, line, column and what was probably meant. [Scenario.Validate]
// returns such errors for values that exclude each other. [Scenario.Normalise] fills
// every default, so that the normalised scenario, which the result file carries,
// is complete: the same text and seed give the same schedule on every broker and
// every machine.
//
// The fields' tags define the format: yaml is the key, other is an alternative key that
// is read too, doc is the description, and enum, pattern, min and max are the allowed
// values (in the field's own notation). Decoder, encoder, [Schema] and the range checks
// of Validate read nothing else, so that a new field is a new key everywhere.
//
// Values of this package have no locks: a scenario may be read by several goroutines
// at a time, if none of them changes it.
package scenario

import "time"

// Version is the version of the scenario format that this package writes.
const Version = 1

// Scenario is one run. The zero value normalises to a runnable scenario: one
// producer and one consumer of an embedded NATS server at 1,000 messages a
// second.
type Scenario struct {
	Version     int      `yaml:"version,omitempty" doc:"version of the scenario format; 1" min:"1"`
	Name        string   `yaml:"name,omitempty" doc:"what to call the run; letters, digits, - and _" pattern:"[A-Za-z0-9_-]{1,64}"`
	Description string   `yaml:"description,omitempty" doc:"free text, shown in reports"`
	Seed        uint64   `yaml:"seed,omitempty" doc:"seed of everything random: arrivals, phases, bodies; default 1" min:"1"`
	Target      Target   `yaml:"target,omitempty" doc:"the system under test"`
	Workload    Workload `yaml:"workload,omitempty" doc:"the load"`
	// Workloads run at the same time. If the list is not empty, Workload is empty; see
	// [Scenario.Parts].
	Workloads Workloads `yaml:"workloads,omitempty" doc:"several loads at the same time, by name, instead of workload"`
	Phases    Phases    `yaml:"phases,omitempty" doc:"how long each phase lasts"`
	// Network holds from before the first connection until the last one is closed. Only the command can
	// have it.
	Network *Network `yaml:"network,omitempty" doc:"what the path between clients and brokers is like for the whole run, such as {profile: cross-region}"`
	// Fleet gives agents of a fleet roles; nil: each receives what it sends.
	Fleet *Fleet `yaml:"fleet,omitempty" doc:"which agents of a fleet only send, which only receive, and which one only measures beside them, such as {producers: {agents: 3}, consumers: {agents: zone=b}, probe: {agents: 1}}; default: each agent receives what it sends, and none measures beside it"`
	// Actions are what happens in the window; see [Scenario.Acts].
	Actions []Action `yaml:"actions,omitempty" doc:"what happens in the window, to whom and for how long: a list such as [{at: 5s, pause: consumers, for: 5s}]"`
	Record  Record   `yaml:"record,omitempty" doc:"what is written down"`
	// Objectives are what the run must show; see [ParseObjective].
	Objectives []Objective `yaml:"objectives,omitempty" doc:"what the run must show: a list such as [delivery.response p99.9 < 5ms, lost == 0, rate >= 99.9%]"`

	chosen bool    // Phases.Warmup was not given: Normalise chose it
	source *source // where the values were written; nil for a scenario made in Go
}

// Limits that no single field's tag states.
const (
	// MaxOpenRate is the highest rate of an open loop, in messages a second
	// over all producers, at any instant of the window.
	MaxOpenRate = 10_000_000
	// MaxDuration is the longest window and the longest warm-up.
	MaxDuration = 7 * 24 * time.Hour
	// MaxProducers is the largest number of producers of a load. As many at most are its consumers, topics and groups, its
	// pairs of a producer and a topic that it sends to, and of a group and a topic that it receives: whoever reads a scenario
	// of a few bytes needs memory for each.
	MaxProducers = 1 << 20
	// MaxText is the longest text of a scenario, in bytes.
	MaxText = 1 << 20
)

// Target is the system under test.
type Target struct {
	Driver string `yaml:"driver,omitempty" doc:"which driver; default nats"`
	URL    string `yaml:"url,omitempty" doc:"where the broker is; absent: sixnines starts one of its own where it can"`
	Prefix string `yaml:"prefix,omitempty" doc:"what every name begins with that the run makes or uses at the broker: topics, queues, exchanges, streams, groups, clients, reply addresses; such as bench., or bench/ for MQTT; absent: names of the run begin with s9"`
	Topic  string `yaml:"topic,omitempty" doc:"topics that exist and are not ours, with commas between: a subject, queue, EXCHANGE/KEY or channel, as the driver has it; nothing is made, emptied or deleted"`
	Group  string `yaml:"group,omitempty" doc:"groups that exist, with commas between, for target.topic: a consumer group, queue group or queue"`
	// Managed, Nodes and Settings describe the broker that is started for the run if
	// URL is absent. Only the command starts brokers.
	Managed  string            `yaml:"managed,omitempty" other:"start" doc:"the product that sixnines starts for the run, instead of url, such as kafka, or kafka@3.9.1 for a version; default the driver's own; see sixnines broker list" pattern:"[a-z0-9][a-z0-9.-]{0,63}(@[0-9A-Za-z.-]{1,32})?"`
	Nodes    int               `yaml:"nodes,omitempty" doc:"how many nodes of it; default 1" min:"1" max:"99"`
	Settings map[string]string `yaml:"settings,omitempty" doc:"lines of the product's own configuration, by name"`
	Options  map[string]any    `yaml:"options,omitempty" doc:"options of the driver; see sixnines drivers show NAME"`
	TLS      *TLS              `yaml:"tls,omitempty" doc:"encrypt the connection"`
}

// TLS names the files of an encrypted connection.
type TLS struct {
	CA                 string `yaml:"ca,omitempty" doc:"PEM file of the authority that signed the server's certificate; absent: the system's"`
	Cert               string `yaml:"cert,omitempty" doc:"PEM file of the client's certificate"`
	Key                string `yaml:"key,omitempty" doc:"PEM file of the client's key"`
	KeyPassword        string `yaml:"key_password,omitempty" doc:"password of the client's key, if that is encrypted; env:NAME, @FILE or ${NAME}, so that it is not written down"`
	ServerName         string `yaml:"server_name,omitempty" doc:"name expected in the server's certificate"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify,omitempty" doc:"accept any certificate; noted in the result"`
}

// Pattern is what is measured.
type Pattern string

// The patterns.
const (
	// Publish: producers only; latency is the broker's acknowledgement, where
	// the driver has one.
	Publish Pattern = "publish"
	// Deliver: producers and consumers; latency is one way, from the intended
	// instant to the consumer's callback.
	Deliver Pattern = "deliver"
	// RoundTrip: every producer consumes its own topic; latency until the
	// message is back where it came from.
	RoundTrip Pattern = "roundtrip"
	// RequestReply: responders answer each request with a reply of its size.
	RequestReply Pattern = "request-reply"
	// Consume: consumers only, of the messages that an earlier run left
	// (Workload.Existing); it measures throughput and no latency.
	Consume Pattern = "consume"
)

// Lifetime says how long topics and groups stay at the broker.
type Lifetime string

// The lifetimes.
const (
	LifetimeRun  Lifetime = "run"  // the run removes them when it ends
	LifetimeKeep Lifetime = "keep" // they stay, with the messages in them
)

// Loop says what the next message waits for.
type Loop string

// The loops.
const (
	// Open: the schedule alone decides when a message is due.
	Open Loop = "open"
	// Closed: a message is due when an earlier one has been answered. Its latencies
	// omit the time that users would have waited for a slow system (coordinated
	// omission); every output is marked.
	Closed Loop = "closed"
)

// Workload is a load: who sends what to whom, and when.
type Workload struct {
	Pattern  Pattern  `yaml:"pattern,omitempty" doc:"what is measured; default deliver" enum:"publish,deliver,roundtrip,request-reply,consume"`
	Loop     Loop     `yaml:"loop,omitempty" doc:"open: a schedule the broker cannot slow down; closed: wait for each answer; default open" enum:"open,closed"`
	Rate     Rate     `yaml:"rate,omitempty" doc:"total over all producers, such as 3000/s; max: as fast as possible, without a schedule; default 1000/s"`
	Arrivals Arrivals `yaml:"arrivals,omitempty" doc:"when messages are due; default constant"`
	Size     Sizes    `yaml:"size,omitempty" doc:"size of a payload, envelope included; at least 32B; default 256B" min:"32B" max:"1GiB"`
	Payload  Payload  `yaml:"payload,omitempty" doc:"what a payload is made of, after the envelope of 32 bytes; default random"`
	Keys     Keys     `yaml:"keys,omitempty" doc:"messages' keys, where the broker has any: none, fixed, unique, or zipf:1.1@10000, which is one of 10000 keys, the key of rank r as often as r^-1.1; default none"`
	KeySize  Size     `yaml:"key_size,omitempty" doc:"length of a key; default 16B where there are keys" min:"8B" max:"64KiB"`
	Headers  Headers  `yaml:"headers,omitempty" doc:"headers of every message, where the broker carries any: a number of them with values of a size (4x32B), or names and values; default none"`
	// Messages ends the measured window after this number of messages instead of
	// after Phases.Duration; only for unpaced loads, closed loops and the pattern consume.
	Messages  uint64 `yaml:"messages,omitempty" doc:"end the window after this number of messages; only with rate max, in a closed loop or with pattern consume" min:"1" max:"281474976710655"`
	Producers int    `yaml:"producers,omitempty" doc:"how many producers; default 1" min:"1" max:"1048576"`
	Consumers int    `yaml:"consumers,omitempty" doc:"how many consumers, or responders in request-reply; default 1, none for publish, one per producer for roundtrip" min:"0" max:"1048576"`
	Topics    int    `yaml:"topics,omitempty" doc:"how many topics; producers and consumers are spread over them; default 1, one per producer for roundtrip" min:"1" max:"1048576"`
	Groups    int    `yaml:"groups,omitempty" doc:"how many queue or consumer groups the consumers form; 0: each consumer on its own" min:"0" max:"1048576"`
	// Lifetime and Existing let one run fill topics and another one drain them;
	// see [Workload.Retains].
	Lifetime    Lifetime    `yaml:"lifetime,omitempty" doc:"how long topics and groups stay at the broker, with the messages in them: run, until the run ends; keep, beyond it, by a name that the result shows; default run, with existing keep" enum:"run,keep"`
	Existing    string      `yaml:"existing,omitempty" doc:"use what a run with lifetime: keep has left, by the name that its result shows, 8 hexadecimal digits such as 431daeca, with the messages in it" pattern:"[0-9a-f]{8}"`
	Connections Connections `yaml:"connections,omitempty" doc:"how many connections to use"`
	InFlight    InFlight    `yaml:"in_flight,omitempty" doc:"limits to what is unanswered at a time"`
	// Timeout is how long an unanswered message counts as in flight. After that it is
	// counted as timed out and stays in the distribution as a censored value.
	Timeout     time.Duration `yaml:"timeout,omitempty" doc:"how long an unanswered message counts as in flight; default: the drain limit" min:"1ms" max:"24h"`
	Outstanding int           `yaml:"outstanding,omitempty" doc:"closed loop: unanswered messages per producer; default 1" min:"1" max:"16777216"`
	Think       time.Duration `yaml:"think,omitempty" other:"think_time" doc:"closed loop: pause between an answer and the next message" min:"0s" max:"24h"`
	Consumer    Consumer      `yaml:"consumer,omitempty" doc:"how consumers behave"`
}

// Connections are numbers of connections; producers and consumers never share one. With a Rate,
// others are opened beside them on a schedule, held, and closed.
type Connections struct {
	Producers int `yaml:"producers,omitempty" doc:"connections that producers share; default one each, at most 16" min:"1" max:"65536"`
	Consumers int `yaml:"consumers,omitempty" doc:"connections that consumers share; default one each, at most 16" min:"1" max:"65536"`
	// Rate counts connections, where that of the workload counts messages. The schedule is constant.
	Rate Rate          `yaml:"rate,omitempty" doc:"open this many connections a second beside those of the load, such as 50/s, each timed from when it is due; default none"`
	Hold time.Duration `yaml:"hold,omitempty" doc:"with rate: how long each of these connections stays open; default 10s" min:"1ms" max:"24h"`
	As   ConnectAs     `yaml:"as,omitempty" doc:"with rate: consumer, to subscribe to a topic without messages; producer, to log in alone; default consumer" enum:"consumer,producer"`
}

// InFlight limits the messages that are unanswered at a time, over all producers or for
// each. A message that is due while the limit is reached is sent late and timed from when
// it was due. The answer to a message is the reply to a request; the return of a round
// trip, if Each limits it; else the broker's acknowledgement; else, with pattern deliver,
// the first delivery.
type InFlight struct {
	Messages int `yaml:"messages,omitempty" doc:"limit of unanswered messages over all producers, at least one for each connection; default 65536 where acknowledged, else no limit" min:"1" max:"16777216"`
	// Each gives every producer its own connection, so that no producer waits for
	// the answer to another one's message.
	Each  int  `yaml:"each,omitempty" doc:"instead of messages: limit of unanswered messages of each producer, each with its own connection; 1: a producer waits for each answer before it sends again, while the schedule goes on" min:"1" max:"65536"`
	Bytes Size `yaml:"bytes,omitempty" doc:"limit of unanswered bytes; each message counts as the largest; default 256MiB" min:"32B" max:"1024GiB"`
}

// Limit returns how many messages may be unanswered at a time, over all of the workload's
// producers; 0: the scenario does not limit them.
func (w *Workload) Limit() int {
	if w.InFlight.Each > 0 {
		return w.InFlight.Each * w.Producers
	}
	return w.InFlight.Messages
}

// Consumer is how consumers behave.
type Consumer struct {
	Ack  string        `yaml:"ack,omitempty" doc:"acknowledge to the broker: none, each, or a number of messages; default the driver's" pattern:"none|each|[1-9][0-9]{0,8}"`
	Work time.Duration `yaml:"work,omitempty" other:"delay" doc:"simulated work per message, copies and damaged ones too, after it was stamped: the callback, or the responder's to a request, waits for this time and uses no processor" min:"0s" max:"24h"`
	// From makes consumers connect during or after the load, so that they find the
	// messages that the broker has kept. With From filled the load ends with the window.
	From Begin `yaml:"from,omitempty" doc:"when consumers connect: filled, when all producers are done, or a time after the window's start such as 30s; default: before the load"`
	// Pause makes each consumer's callback block for Pause.For, as Work does: after it
	// has stamped the first message that comes within the pause.
	Pause Pause `yaml:"pause,omitempty" doc:"how long consumers take nothing, and from when in the window, such as 5s@20s: their callbacks block"`
}

// Phases are the lengths of a run's phases.
type Phases struct {
	// Warmup is the length of the load before the measured window, which is not recorded.
	// 0 means the default, or, with NoWarmup, no warm-up; a 0 in a file or flag sets NoWarmup.
	Warmup   time.Duration `yaml:"warmup" doc:"load before the measured window, not recorded; default 2s" min:"0s" max:"168h"`
	NoWarmup bool
	Duration time.Duration `yaml:"duration,omitempty" doc:"the measured window; default 10s, the steps' total for a step schedule, none with messages" min:"1ms" max:"168h"`
	// Until extends the window beyond Duration until the confidence interval of a
	// percentile is narrow enough, and at most to AtMost; see [ParseUntil].
	Until  Until         `yaml:"until,omitempty" doc:"lengthen the window until an interval is this narrow, such as delivery.response p99 ±5%; duration is then its minimum"`
	AtMost time.Duration `yaml:"at_most,omitempty" doc:"with until: the greatest length of the window; default ten times the duration, at least 60s" min:"1ms" max:"168h"`
	// Drain is the longest wait for the last measured message after the window; the
	// load goes on meanwhile.
	Drain time.Duration `yaml:"drain,omitempty" doc:"how long to wait, at most, for the last measured message; default 10s, 10m where consumers come late" min:"1ms" max:"24h"`
	// ReadBack is how long reading what the broker keeps may take when the run is over, until the
	// broker is there again included; 0: nothing is read back.
	ReadBack time.Duration `yaml:"read_back,omitempty" doc:"when the run is over, read everything that the broker still keeps, for at most this time, and report which acknowledged messages are lost; default 2m with actions that can lose messages, else nothing is read" min:"1ms" max:"24h"`
}

// Record is what is written down.
type Record struct {
	Interval time.Duration `yaml:"interval,omitempty" doc:"length of an interval of the result file; default: a hundredth of the window, from 5ms to 1s, and more only beyond 10000s" min:"5ms" max:"1m"`
	Digits   int           `yaml:"digits,omitempty" doc:"significant decimal digits of the histograms, 2 or 3; default 3" min:"2" max:"3"`
	Raw      bool          `yaml:"raw,omitempty" doc:"also write 40 bytes for each event of a message to a raw file beside the result"`
	// Probe says whether a producer and a consumer at a low rate measure the same broker
	// at the same time, in their own process and on their own topic.
	Probe Probe `yaml:"probe,omitempty" doc:"measure the same broker beside the load, by a producer and a consumer at a low rate in a separate process; auto: from two connections or 10,000/s upward; default auto" enum:"auto,on,off"`
}

// Probe says whether there is a probe beside the load.
type Probe string

// The values of Record.Probe.
const (
	ProbeAuto Probe = "auto" // where the load could hide what the broker does, see [Scenario.Probed]
	ProbeOn   Probe = "on"
	ProbeOff  Probe = "off"
)

// ArrivalsKind names a schedule.
type ArrivalsKind string

// The schedules.
const (
	Constant ArrivalsKind = "constant" // equidistant
	Poisson  ArrivalsKind = "poisson"  // independent arrivals at the rate
	Step     ArrivalsKind = "step"     // constant rates, one after the other
	Ramp     ArrivalsKind = "ramp"     // from one rate to another, linearly over the window
	Sine     ArrivalsKind = "sine"     // the rate swings about its mean
	Burst    ArrivalsKind = "burst"    // Count messages at once, every Period
	Trace    ArrivalsKind = "trace"    // recorded instants, replayed
)

// Arrivals says when messages are due. In YAML it is a word ("poisson"), the
// short form that flags use ("ramp:1000/s..5000/s", "burst:100@1s",
// "sine:50%@10s", "step:1000/s@10s,2000/s@10s", "trace:FILE"), or a mapping.
type Arrivals struct {
	Kind ArrivalsKind `yaml:"kind,omitempty" enum:"constant,poisson,step,ramp,sine,burst,trace" doc:"which schedule"`
	// Random makes the arrivals of step, ramp and sine a Poisson process of
	// that rate instead of an even flow.
	Random    bool          `yaml:"random,omitempty" doc:"step, ramp, sine: Poisson arrivals of that rate instead of an even flow"`
	Steps     []RateStep    `yaml:"steps,omitempty" doc:"step: the rates, one after the other"`
	From      Rate          `yaml:"from,omitempty" doc:"ramp: the rate at the start of the window"`
	To        Rate          `yaml:"to,omitempty" doc:"ramp: the rate at its end"`
	Amplitude float64       `yaml:"amplitude,omitempty" doc:"sine: largest deviation from the rate as a fraction of it, above 0 and at most 1" max:"1"`
	Period    time.Duration `yaml:"period,omitempty" doc:"sine, burst: the period" min:"1us" max:"24h"`
	Count     uint64        `yaml:"count,omitempty" doc:"burst: messages per burst" min:"1" max:"1000000000"`
	File      string        `yaml:"file,omitempty" doc:"trace: a file of instants, one a line, in ns (or with a unit) from the start of the window, ascending; relative to the working directory"`
}

// RateStep is one step of a step schedule.
type RateStep struct {
	Rate Rate          `yaml:"rate,omitempty" doc:"the rate during the step"`
	For  time.Duration `yaml:"for,omitempty" doc:"its length" min:"1ms" max:"168h"`
}
