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
	// it. Without a metric all latencies, without either the whole run.
	Metric     Metric `json:"metric,omitempty"`
	Percentile string `json:"percentile,omitempty"`
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
	ReasonCutShort           ReasonCode = "cut-short"
	ReasonConservation       ReasonCode = "conservation"
	ReasonViolations         ReasonCode = "violations"
	ReasonSuspended          ReasonCode = "suspended"
	ReasonConsumersAbsent    ReasonCode = "consumers-absent"
	ReasonAction             ReasonCode = "action"
	ReasonSelfInflicted      ReasonCode = "self-inflicted"
	ReasonFrozen             ReasonCode = "frozen"
	ReasonOwnLag             ReasonCode = "own-lag"
	ReasonReceiveLag         ReasonCode = "receive-lag"
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
		{ReasonCutShort, ByRun, EffectUnknown, ShownAsWhy, "the run was cut short", "run it again"},
		{ReasonConservation, ByTool, EffectUnknown, ShownAsWhy, "the message counts do not add up", report},
		{ReasonViolations, ByTool, EffectUnknown, ShownAsWhy, "the driver broke its contract", "run the driver's conformance suite"},
		{ReasonSuspended, ByMachine, EffectUnknown, ShownAsWhy, "the machine was suspended", "disable sleep and run again"},
		{ReasonConsumersAbsent, BySystem, EffectUnknown, ShownAsWhy, "consumers could not connect", "see why the broker refuses them"},
		{ReasonAction, ByRun, EffectUnknown, ShownAsWhy, "an action did not happen", "see why: --show events"},
		{ReasonSelfInflicted, ByGenerator, EffectLonger, ShownAsWhy, "the generator's own delay made the tail", paused},
		{ReasonFrozen, ByGenerator, EffectLonger, ShownAsWhy, "the generator's own delay made the tail", paused},
		{ReasonOwnLag, ByGenerator, EffectLonger, ShownAsWhy, "own lag", "lower the rate, or give the generator processors of its own"},
		{ReasonReceiveLag, ByGenerator, EffectLonger, ShownAsWhy, "receive lag", "lower the rate, use more connections, or give the generator more processors"},
		{ReasonGeneratorLimit, ByGenerator, EffectLonger, ShownAsWhy, "generator at its limit", "lower the rate, use more connections or a larger machine"},
		{ReasonBacklog, BySystem, EffectUnknown, ShownAsWhy, "the backlog grew", "lower --rate, or find what it can carry: sixnines capacity"},
		{ReasonBacklogKept, ByRun, EffectUnknown, ShownAsNote, "", ""},
		{ReasonNothingCame, BySystem, EffectUnknown, ShownAsWhy, "no message came through", ""},
		{ReasonSteady, BySystem, EffectUnknown, ShownAsWhy, "no steady state", "run longer (--duration), and see what changed: --show steady"},
		{ReasonSteadyNotAssessed, ByRun, EffectNone, ShownAsWhy, "", ""},
		{ReasonWarmUp, BySystem, EffectUnknown, ShownAsWhy, "warm-up", "lengthen the warm-up (--warmup)"},
		{ReasonWarmUpLeft, ByRun, EffectUnknown, ShownAsWhy, "the warm-up's backlog was left", "skip the warm-up (--warmup 0s), or wait longer for it (--drain)"},
		{ReasonOneSample, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonNotSent, ByEither, EffectUnknown, ShownAsWhy, "not sent", "lower the rate, or lengthen the drain (--drain)"},
		{ReasonRate, ByGenerator, EffectUnknown, ShownAsWhy, "sent late", late},
		{ReasonBlocked, BySystem, EffectNone, ShownAsNote, "", ""},
		{ReasonWorstSecond, ByGenerator, EffectUnknown, ShownAsWhy, "sent late", late},
		{ReasonWorstSecondBlocked, BySystem, EffectNone, ShownAsNote, "", ""},
		{ReasonThrottled, ByMachine, EffectLonger, ShownAsWhy, "throttled", "raise the processor quota (cpu.max)"},
		{ReasonSteal, ByMachine, EffectLonger, ShownAsWhy, "steal", "run on a machine of your own, or at another time"},
		{ReasonSwap, ByMachine, EffectLonger, ShownAsWhy, "swap", "free memory, or disable swap"},
		{ReasonStarved, ByHost, EffectLonger, ShownAsWhy, "the broker lacked a processor", "give the broker processors of its own, or lower the rate"},
		{ReasonUnseen, ByHost, EffectLonger, ShownAsWhy, "the broker may have lacked a processor", "run sixnines as the broker's user or as root, or lower the rate"},
		{ReasonCPU, ByGenerator, EffectLonger, ShownAsWhy, "cpu", "lower the rate, or use a larger machine"},
		{ReasonGC, ByGenerator, EffectLonger, ShownAsWhy, "garbage collection", "raise GOMEMLIMIT, or lower the rate"},
		{ReasonScheduler, ByGenerator, EffectLonger, ShownAsWhy, "", ""},
		{ReasonAttribution, ByCause, EffectLonger, ShownAsWhy, "", ""},
		{ReasonProbe, ByEither, EffectUnknown, ShownAsWhy, "the load waited and the probe did not", "use more connections, and see --show reasons"},
		{ReasonClientDrops, BySystem, EffectUnknown, ShownAsWhy, "messages dropped by the client", "raise the client's limits"},
		{ReasonNegative, ByTool, EffectUnknown, ShownAsWhy, "negative differences", report},
		{ReasonOutOfRange, ByTool, EffectUnknown, ShownAsWhy, "values out of range", ""},
		{ReasonLittle, ByTool, EffectUnknown, ShownAsWhy, "Little's law does not hold", report},
		{ReasonClosedLoop, ByRun, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonUnpaced, ByRun, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonSameHost, ByHost, EffectUnknown, ShownAsWhy, "", ""},
		{ReasonFloor, ByMachine, EffectLonger, ShownAsWhy, "", ""},
		{ReasonAboveLimit, ByGenerator, EffectLonger, ShownAsWhy, "", ""},
		{ReasonInterrupted, ByRun, EffectNone, ShownAsWhy, "", ""},
		{ReasonUntil, ByRun, EffectNone, ShownAsNote, "", ""},
		{ReasonAborted, ByRun, EffectUnknown, ShownAsWhy, "the run was aborted", "run it again, or interrupt it only once"},
		{ReasonLostAcked, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonUndelivered, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonMissing, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonCorrupted, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonRefused, BySystem, EffectUnknown, ShownAsRefusal, "messages were refused", forbidden},
		{ReasonAllRefused, BySystem, EffectUnknown, ShownAsRefusal, "every message was refused", forbidden},
		{ReasonDenied, BySystem, EffectUnknown, ShownAsRefusal, "the broker refused messages", forbidden},
		{ReasonGivenUp, BySystem, EffectUnknown, ShownAsRefusal, "a connection was given up", forbidden},
		{ReasonUnauthorised, BySystem, EffectUnknown, ShownAsRefusal, "the broker refuses this user", forbidden},
		{ReasonDeliveries, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonCensored, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonLastUnknown, ByTool, EffectNone, ShownAsWhy, "", ""},
		{ReasonEarlier, ByRun, EffectNone, ShownAsWhy, "", ""},
		{ReasonEarlierMissing, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonDrained, ByRun, EffectNone, ShownAsWhy, "", ""},
		{ReasonLeft, ByRun, EffectNone, ShownAsWhy, "", ""},
		{ReasonTakeovers, BySystem, EffectNone, ShownAsWhy, "", ""},
		{ReasonEvents, BySystem, EffectUnknown, ShownAsNote, "", ""},
		{ReasonSemantics, BySystem, EffectUnknown, ShownAsNote, "", ""},
	}
}
