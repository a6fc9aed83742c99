package result

import (
	"cmp"
	"slices"
	"strings"
)

// Reason is one finding of the verdict.
type Reason struct {
	Status Status     `json:"status"`          // what this finding alone leads to; Valid: a note
	Code   ReasonCode `json:"code"`            // what it is about, for programs
	Text   string     `json:"text"`            // for people: what was found and what to do
	Brief  string     `json:"brief,omitempty"` // what was found in a few words: "36 % own lag"
	// Metric and Percentile tell what it applies to: the percentile and all beyond
	// it. Without a metric all latencies, without either the whole run. Text and Found
	// name the metric.
	Metric     Metric     `json:"metric,omitempty"`
	Percentile Percentile `json:"percentile,omitempty"`
	// Share is of how much of the window, 0 to 1, what was found took at most, such as pauses of the
	// generator or stolen time; 0 if that is not known, or it is not of a time.
	Share float64 `json:"share,omitempty"`
	// Found, Means and Try are what Text is made of: what was found, what it means for the
	// figures, and what to do. Files of earlier versions have Text alone.
	Found string `json:"found,omitempty"`
	Means string `json:"means,omitempty"`
	Try   string `json:"try,omitempty"`
}

// What returns what was found; in files of earlier versions the text also says what it means
// and what to do.
func (r Reason) What() string { return cmp.Or(r.Found, r.Text) }

// Short returns what was found, in a few words.
func (r Reason) Short() string { return cmp.Or(r.Brief, r.Code.Properties().Brief, r.Code.words()) }

// ReasonCode says what a reason is about. Files of other versions may hold codes that are
// not listed here.
type ReasonCode string

// The codes of reasons.
const (
	ReasonAltered            ReasonCode = "altered" // found by whoever reads the file; no file has it
	ReasonCutShort           ReasonCode = "cut-short"
	ReasonConservation       ReasonCode = "conservation"
	ReasonViolations         ReasonCode = "violations"
	ReasonSuspended          ReasonCode = "suspended"
	ReasonConsumersAbsent    ReasonCode = "consumers-absent"
	ReasonAction             ReasonCode = "action"
	ReasonBrokerEnded        ReasonCode = "broker-ended"
	ReasonAgentLost          ReasonCode = "agent-lost"
	ReasonAgent              ReasonCode = "agent"
	ReasonAgentsApart        ReasonCode = "agents-apart"
	ReasonAgentsDiffer       ReasonCode = "agents-differ"
	ReasonClocks             ReasonCode = "clocks"
	ReasonSelfInflicted      ReasonCode = "self-inflicted"
	ReasonFrozen             ReasonCode = "frozen"
	ReasonOwnLag             ReasonCode = "own-lag"
	ReasonReceiveLag         ReasonCode = "receive-lag"
	ReasonGeneratorShare     ReasonCode = "generator-share"
	ReasonGeneratorLimit     ReasonCode = "generator-limit"
	ReasonBacklog            ReasonCode = "backlog"
	ReasonBacklogKept        ReasonCode = "backlog-kept"
	ReasonNothingCame        ReasonCode = "nothing-came"
	ReasonSteady             ReasonCode = "steady"
	ReasonSteadyNotAssessed  ReasonCode = "steady-not-assessed"
	ReasonWarmUp             ReasonCode = "warm-up"
	ReasonWarmUpLeft         ReasonCode = "warm-up-left"
	ReasonOneSample          ReasonCode = "one-sample"
	ReasonNotSent            ReasonCode = "not-sent"
	ReasonRate               ReasonCode = "rate"
	ReasonBlocked            ReasonCode = "blocked"
	ReasonWorstSecond        ReasonCode = "worst-second"
	ReasonWorstSecondBlocked ReasonCode = "worst-second-blocked"
	ReasonThrottled          ReasonCode = "throttled"
	ReasonSteal              ReasonCode = "steal"
	ReasonSwap               ReasonCode = "swap"
	ReasonStarved            ReasonCode = "starved"
	ReasonUnseen             ReasonCode = "unseen"
	ReasonCPU                ReasonCode = "cpu"
	ReasonGC                 ReasonCode = "gc"
	ReasonScheduler          ReasonCode = "scheduler"
	ReasonAttribution        ReasonCode = "attribution"
	ReasonProbe              ReasonCode = "probe"
	ReasonClientDrops        ReasonCode = "client-drops"
	ReasonNegative           ReasonCode = "negative"
	ReasonOutOfRange         ReasonCode = "out-of-range"
	ReasonLittle             ReasonCode = "little"
	ReasonClosedLoop         ReasonCode = "closed-loop"
	ReasonUnpaced            ReasonCode = "unpaced"
	ReasonSameHost           ReasonCode = "same-host"
	ReasonFloor              ReasonCode = "floor"
	ReasonAboveLimit         ReasonCode = "above-limit"
	ReasonInterrupted        ReasonCode = "interrupted"
	ReasonUntil              ReasonCode = "until"
	ReasonAborted            ReasonCode = "aborted"
	ReasonLostAcked          ReasonCode = "lost-acked"
	ReasonUndelivered        ReasonCode = "undelivered"
	ReasonMissing            ReasonCode = "missing"
	ReasonCorrupted          ReasonCode = "corrupted"
	ReasonRefused            ReasonCode = "refused"
	ReasonAllRefused         ReasonCode = "all-refused"
	ReasonDenied             ReasonCode = "denied"
	ReasonGivenUp            ReasonCode = "given-up"
	ReasonUnauthorised       ReasonCode = "unauthorised"
	ReasonDeliveries         ReasonCode = "deliveries"
	ReasonCensored           ReasonCode = "censored"
	ReasonLastUnknown        ReasonCode = "last-unknown"
	ReasonEarlier            ReasonCode = "earlier"
	ReasonEarlierMissing     ReasonCode = "earlier-missing"
	ReasonDrained            ReasonCode = "drained"
	ReasonLeft               ReasonCode = "left"
	ReasonTakeovers          ReasonCode = "handovers"
	ReasonEvents             ReasonCode = "events"
	ReasonSemantics          ReasonCode = "semantics"
)

// words returns the code with spaces instead of hyphens.
func (c ReasonCode) words() string { return strings.ReplaceAll(string(c), "-", " ") }

// Properties returns the properties of a code; for one that this version does not know, only
// the code.
func (c ReasonCode) Properties() ReasonProperties {
	all := Reasons()
	if i := slices.IndexFunc(all, func(p ReasonProperties) bool { return p.Code == c }); i >= 0 {
		return all[i]
	}
	return ReasonProperties{Code: c}
}

// ReasonProperties describes the reasons with one code.
type ReasonProperties struct {
	Code   ReasonCode
	By     Party
	Held   Held
	Effect Effect
	Shown  Shown
	Brief  string // what was found in a few words, where a reason does not say it itself
	Try    string // what to do, where a reason that lowers the verdict does not say it itself
}

// Party is who is responsible for a finding.
type Party string

// The parties.
const (
	ByGenerator Party = "generator" // Sixnines itself
	ByMachine   Party = "machine"   // the machine of the generator
	ByHost      Party = "host"      // the machine that the generator shares with the broker
	BySystem    Party = "system"    // the broker, its client, its consumers or the network
	ByRun       Party = "run"       // what was asked for, or how the run ended
	ByTool      Party = "tool"      // a defect of Sixnines or of a driver
	ByEither    Party = "either"    // generator or system: nothing tells which
	ByCause     Party = "cause"     // the party of the cause that the reason names
)

// OnGeneratorSide reports whether the party is the generator or its machine. Figures that such
// a reason limits say nothing about the system under test.
func (p Party) OnGeneratorSide() bool { return p == ByGenerator || p == ByMachine }

// Held says over which parts of a run with actions its gate is held.
type Held int

// The parts. The effect of an action lasts from when it happened until the former latency was
// back.
const (
	// HeldOnce: over the whole run. No action explains the finding.
	HeldOnce Held = iota
	// HeldTwice: over the whole run, and by itself over what lies outside of the effects of
	// actions. No action explains the finding, and none hides it: messages that an action made
	// slow are a tail in which those that the generator made slow do not show.
	HeldTwice
	// HeldOutside: only outside of the effects of actions, which explain it.
	HeldOutside
)

// Effect is how a finding may have changed a latency.
type Effect int

// The effects.
const (
	EffectUnknown Effect = iota // the latency may be longer, shorter, or that of another load
	EffectNone                  // the figure is correct
	EffectLonger                // the latency can only be longer than without the finding
)

// Shown says where the first screen of a report shows a reason.
type Shown int

// The places.
const (
	ShownAsWhy     Shown = iota // among the reasons for the verdict; not shown if it is a note
	ShownAsNote                 // also shown if it is a note
	ShownAsRefusal              // on the line of the broker's refusals, which it quotes
)

// Reasons lists the properties of all codes, in the order of the verdict's questions.
func Reasons() []ReasonProperties {
	const (
		paused    = "look for what stopped the process (a signal, a limit, the hypervisor) and run again"
		late      = "lower the rate, or give the generator more processors"
		forbidden = "give this user the permission at the broker, or log in as another user"
		report    = "report it with the result file: it is a defect of sixnines or of the driver"
	)
	return []ReasonProperties{
		{ReasonAltered, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "the file was changed after it was written", "take it from a copy, or make the run again; sixnines verify shows what else differs"},
		{ReasonCutShort, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "the run was cut short", "run it again"},
		{ReasonConservation, ByTool, HeldOnce, EffectUnknown, ShownAsWhy, "the message counts do not add up", report},
		{ReasonViolations, ByTool, HeldOnce, EffectUnknown, ShownAsWhy, "the driver broke its contract", "run the driver's conformance suite"},
		{ReasonSuspended, ByMachine, HeldOnce, EffectUnknown, ShownAsWhy, "the machine was suspended", "disable sleep and run again"},
		{ReasonConsumersAbsent, BySystem, HeldOnce, EffectUnknown, ShownAsWhy, "consumers could not connect", "see why the broker refuses them"},
		{ReasonAction, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "an action did not happen", "see why: --show events"},
		{ReasonBrokerEnded, BySystem, HeldOnce, EffectUnknown, ShownAsWhy, "a process of the broker ended unexpectedly", "see why: --show events, and the broker's log"},
		{ReasonAgentLost, ByGenerator, HeldOnce, EffectUnknown, ShownAsWhy, "an agent was lost", "see why on its machine, remove what it left at the broker (sixnines clean), and run again"},
		{ReasonAgent, ByCause, HeldOnce, EffectUnknown, ShownAsWhy, "an agent's own result is not valid", "see its own result: sixnines report FILE"},
		{ReasonAgentsApart, ByGenerator, HeldOnce, EffectUnknown, ShownAsWhy, "agents began apart", "begin all agents at one instant, and set the clocks of their machines"},
		{ReasonAgentsDiffer, BySystem, HeldOnce, EffectUnknown, ShownAsWhy, "agents met different brokers", "have all servers run one version with the same settings, and run again"},
		{ReasonClocks, ByGenerator, HeldOnce, EffectUnknown, ShownAsWhy, "clocks of several machines", "measure a round trip, or let each agent receive what it sends: both need one clock only"},
		{ReasonSelfInflicted, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "the generator's own delay made the tail", paused},
		{ReasonFrozen, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "the generator's own delay made the tail", paused},
		{ReasonOwnLag, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "own lag", "lower the rate, or give the generator processors of its own"},
		{ReasonReceiveLag, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "receive lag", "lower the rate, use more connections, or give the generator more processors"},
		{ReasonGeneratorShare, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "own and receive lag", "lower the rate, or give the generator processors of its own"},
		{ReasonGeneratorLimit, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "generator at its limit", "lower the rate, use more connections or a larger machine"},
		{ReasonBacklog, BySystem, HeldOutside, EffectUnknown, ShownAsWhy, "the backlog grew", "lower --rate, or find what it can carry: sixnines capacity"},
		{ReasonBacklogKept, ByRun, HeldOnce, EffectUnknown, ShownAsNote, "", ""},
		{ReasonNothingCame, BySystem, HeldOutside, EffectUnknown, ShownAsWhy, "no message came through", ""},
		{ReasonSteady, BySystem, HeldOutside, EffectUnknown, ShownAsWhy, "no steady state", "run longer (--duration), and see what changed: --show steady"},
		{ReasonSteadyNotAssessed, ByRun, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonWarmUp, BySystem, HeldOutside, EffectUnknown, ShownAsWhy, "warm-up", "lengthen the warm-up (--warmup)"},
		{ReasonWarmUpLeft, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "the warm-up's backlog was left", "skip the warm-up (--warmup 0s), or wait longer for it (--drain)"},
		{ReasonOneSample, BySystem, HeldOutside, EffectNone, ShownAsWhy, "", ""},
		{ReasonNotSent, ByEither, HeldOutside, EffectUnknown, ShownAsWhy, "not sent", "lower the rate, or lengthen the drain (--drain)"},
		{ReasonRate, ByGenerator, HeldTwice, EffectUnknown, ShownAsWhy, "sent late", late},
		{ReasonBlocked, BySystem, HeldOnce, EffectNone, ShownAsNote, "", ""},
		{ReasonWorstSecond, ByGenerator, HeldTwice, EffectUnknown, ShownAsWhy, "sent late", late},
		{ReasonWorstSecondBlocked, BySystem, HeldOnce, EffectNone, ShownAsNote, "", ""},
		{ReasonThrottled, ByMachine, HeldTwice, EffectLonger, ShownAsWhy, "throttled", "raise the processor quota (cpu.max)"},
		{ReasonSteal, ByMachine, HeldTwice, EffectLonger, ShownAsWhy, "steal", "run on a machine of your own, or at another time"},
		{ReasonSwap, ByMachine, HeldTwice, EffectLonger, ShownAsWhy, "swap", "free memory, or disable swap"},
		{ReasonStarved, ByHost, HeldTwice, EffectLonger, ShownAsWhy, "the broker lacked a processor", "give the broker processors of its own, or lower the rate"},
		{ReasonUnseen, ByHost, HeldTwice, EffectLonger, ShownAsWhy, "the broker may have lacked a processor", "run sixnines as the broker's user or as root, or lower the rate"},
		{ReasonCPU, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "cpu", "lower the rate, or use a larger machine"},
		{ReasonGC, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "garbage collection", "raise GOMEMLIMIT, or lower the rate"},
		{ReasonScheduler, ByGenerator, HeldTwice, EffectLonger, ShownAsWhy, "", ""},
		{ReasonAttribution, ByCause, HeldOnce, EffectLonger, ShownAsWhy, "", ""},
		{ReasonProbe, ByEither, HeldOnce, EffectUnknown, ShownAsWhy, "the load waited and the probe did not", "use more connections, and see --show reasons"},
		{ReasonClientDrops, BySystem, HeldOnce, EffectUnknown, ShownAsWhy, "messages dropped by the client", "raise the client's limits"},
		{ReasonNegative, ByTool, HeldOnce, EffectUnknown, ShownAsWhy, "negative differences", report},
		{ReasonOutOfRange, ByTool, HeldOnce, EffectUnknown, ShownAsWhy, "values out of range", ""},
		{ReasonLittle, ByTool, HeldOnce, EffectUnknown, ShownAsWhy, "Little's law does not hold", report},
		{ReasonClosedLoop, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonUnpaced, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonSameHost, ByHost, HeldOnce, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonFloor, ByMachine, HeldOnce, EffectLonger, ShownAsWhy, "", ""},
		{ReasonAboveLimit, ByGenerator, HeldOnce, EffectLonger, ShownAsWhy, "", ""},
		{ReasonInterrupted, ByRun, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonUntil, ByRun, HeldOnce, EffectNone, ShownAsNote, "", ""},
		{ReasonAborted, ByRun, HeldOnce, EffectUnknown, ShownAsWhy, "the run was aborted", "run it again, or interrupt it only once"},
		{ReasonLostAcked, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonUndelivered, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonMissing, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonCorrupted, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonRefused, BySystem, HeldOnce, EffectUnknown, ShownAsRefusal, "messages were refused", forbidden},
		{ReasonAllRefused, BySystem, HeldOnce, EffectUnknown, ShownAsRefusal, "every message was refused", forbidden},
		{ReasonDenied, BySystem, HeldOnce, EffectUnknown, ShownAsRefusal, "the broker refused messages", forbidden},
		{ReasonGivenUp, BySystem, HeldOnce, EffectUnknown, ShownAsRefusal, "a connection was given up", forbidden},
		{ReasonUnauthorised, BySystem, HeldOnce, EffectUnknown, ShownAsRefusal, "the broker refuses this user", forbidden},
		{ReasonDeliveries, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonCensored, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonLastUnknown, ByTool, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonEarlier, ByRun, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonEarlierMissing, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonDrained, ByRun, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonLeft, ByRun, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonTakeovers, BySystem, HeldOnce, EffectNone, ShownAsWhy, "", ""},
		{ReasonEvents, BySystem, HeldOnce, EffectUnknown, ShownAsNote, "", ""},
		{ReasonSemantics, BySystem, HeldOnce, EffectUnknown, ShownAsNote, "", ""},
	}
}
