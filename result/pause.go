package result

import (
	"cmp"
	"slices"
	"strings"
)

// Pause is a time in which the generator did not run, or in which something
// happened to it that may have made it.
type Pause struct {
	Start  int64       `json:"start"`
	End    int64       `json:"end"`
	Source PauseSource `json:"source"`
}

// PauseSource is what detected a pause. Files of other versions may hold sources that are not
// listed here.
type PauseSource string

// The sources of pauses. The first four are gaps in the wake-ups of a meter. The others are
// intervals between two readings of a counter that grew meanwhile; such a pause is as long as
// the readings are apart.
const (
	// PauseThread: the operating system or the hypervisor did not run a locked thread when it
	// was due.
	PauseThread PauseSource = "thread"
	// PauseGoroutine: Go's scheduler or the operating system did not run a goroutine when it
	// was due.
	PauseGoroutine PauseSource = "goroutine"
	// PauseProcess: both at once, so that the whole process was paused.
	PauseProcess PauseSource = "process"
	// PauseIdle: a separate process that does nothing did not run. It is in the same control
	// groups, so a gap in which their quota stopped it does not count; a freezer or a paused
	// container stops it like a pause of the machine.
	PauseIdle       PauseSource = "idle"
	PauseGC         PauseSource = "gc"        // Go's collector stopped the world for long
	PauseThrottled  PauseSource = "throttled" // the CPU quota of a control group above the process ran out
	PauseSteal      PauseSource = "steal"     // the hypervisor gave processors to others while they had work
	PauseContention PauseSource = "crowded"   // a thread of this process waited while others had the processors
	// PauseSwap: after a page fault of this process the kernel read swapped-out memory, or a
	// part of a file, from a disk.
	PauseSwap PauseSource = "swap"
	// PauseStarved: the broker's threads waited for a processor of this machine, long enough to
	// make messages in the broker wait three times as long, or longer.
	PauseStarved    PauseSource = "starved"
	PauseRetransmit PauseSource = "retransmission" // TCP sent a segment again
)

// PauseProperties describes the pauses of one source.
type PauseProperties struct {
	Source PauseSource
	By     Party
	Reason ReasonCode // the code of the verdict's reason for this source alone; empty: none has it
	// Counter says that the pause is the interval between two readings of a counter: the
	// real pause is somewhere in it and shorter.
	Counter bool
	Name    string // a word or two, for tables
	Brief   string // a few words, for headlines
	What    string // a noun: "a pause of sixnines itself"
	Means   string // a clause: "the whole generator was paused"
	Try     string // what to do
	// From lists sources that may explain this one, the most specific first: throttling and
	// steal also look like contention with other processes, and these delay the idle process
	// as they delay this one.
	From []PauseSource
}

// Properties returns the properties of a source; for one that this version does not know,
// only its name.
func (s PauseSource) Properties() PauseProperties {
	p := PauseProperties{Source: s, Means: "generator paused"}
	if i := slices.IndexFunc(Pauses(), func(p PauseProperties) bool { return p.Source == s }); i >= 0 {
		p = Pauses()[i]
	}
	p.Name = cmp.Or(p.Name, string(s))
	p.Brief = cmp.Or(p.Brief, strings.ReplaceAll(p.Name, "-", " "))
	return p
}

// Pauses lists the properties of all sources. A source comes before those that explain it.
func Pauses() []PauseProperties {
	ofProcess := []PauseSource{PauseThrottled, PauseSteal, PauseSwap, PauseContention, PauseIdle, PauseGC}
	return []PauseProperties{
		{Source: PauseThread, By: ByGenerator, From: ofProcess,
			Brief: "late threads of the generator", What: "a thread of the generator that woke up late",
			Means: "a thread of the generator ran late", Try: "give the generator more processor or pin it"},
		{Source: PauseGoroutine, By: ByGenerator, From: ofProcess,
			Brief: "late goroutines of the generator", What: "a goroutine of the generator that Go's scheduler ran late",
			Means: "a goroutine of the generator ran late", Try: "give the generator more processors, or fewer producers and consumers"},
		{Source: PauseProcess, By: ByGenerator, From: ofProcess, Reason: ReasonFrozen,
			Brief: "generator paused", What: "a pause of sixnines itself",
			Means: "the whole generator was paused", Try: "look for what stopped the process: a signal, a container's limit, the hypervisor"},
		{Source: PauseIdle, By: ByMachine, From: []PauseSource{PauseThrottled, PauseSteal, PauseSwap, PauseContention},
			Brief: "machine paused", What: "a pause of the whole machine",
			Means: "an idle process was paused too, so the machine was", Try: "the hypervisor or the kernel paused it: run again on a machine of your own"},
		{Source: PauseGC, By: ByGenerator, Reason: ReasonGC, Counter: true, Name: "garbage collection",
			What:  "a pause for Go's garbage collection in the generator",
			Means: "garbage collection paused the generator", Try: "raise GOMEMLIMIT or lower the rate"},
		{Source: PauseContention, By: ByMachine, Counter: true, From: []PauseSource{PauseThrottled, PauseSteal}, Name: "other processes",
			Brief: "other processes on these processors", What: "other processes on the generator's processors",
			Means: "other processes used the processors", Try: "stop the other processes, or give the generator processors of its own"},
		{Source: PauseStarved, By: ByHost, Reason: ReasonStarved, Counter: true, From: []PauseSource{PauseSteal, PauseIdle}, Name: "broker without processor",
			What:  "the broker waiting for a processor of this machine",
			Means: "the broker waited for a processor of this machine", Try: "give the broker processors of its own, or lower the rate"},
		{Source: PauseThrottled, By: ByMachine, Reason: ReasonThrottled, Counter: true,
			Brief: "throttling", What: "throttling by a control group",
			Means: "a control group's cpu.max throttled the generator", Try: "raise its cpu.max, or start the generator outside of it"},
		{Source: PauseSteal, By: ByMachine, Reason: ReasonSteal, Counter: true,
			What:  "the hypervisor giving processor time to others (steal)",
			Means: "the hypervisor gave processor time to others", Try: "run on a machine of your own, or at another time"},
		{Source: PauseSwap, By: ByMachine, Reason: ReasonSwap, Counter: true,
			Brief: "swapping", What: "swapping (memory read back from disk)",
			Means: "pages of the generator were read back from disk", Try: "free memory or switch swapping off"},
		{Source: PauseRetransmit, By: BySystem, Counter: true,
			What:  "TCP retransmissions",
			Means: "TCP retransmitted segments", Try: "look at the network's losses and queues"},
	}
}
