package result

import (
	"slices"
	"strings"
)

// Vital is the name of a figure in [Interval.Vitals]: of the generator, its machine or the
// broker's processes. Files of other versions may hold vitals that are not listed here, and
// every file those of single processes, see [Vital.Of].
type Vital string

// The vitals, in the order in which reports show them. A value is a difference over the
// interval, unless its comment says "now": then it is the value at the interval's end. A vital
// whose source could not be read is absent.
const (
	VitalProcessCPU       Vital = "process.cpu"
	VitalProcessCPUUser   Vital = "process.cpu.user"
	VitalProcessCPUSystem Vital = "process.cpu.system"

	VitalHostBusy      Vital = "host.cpu.busy"     // not idle, waiting for I/O or stolen; resolution one tick (10 ms) of one core
	VitalHostPressure  Vital = "host.pressure.cpu" // PSI
	VitalHostSteal     Vital = "host.steal"        // same resolution
	VitalHostStealTime Vital = "host.steal.time"

	VitalHiccupThreadP99     Vital = "hiccup.thread.p99"    // corrected for missed wake-ups, as are the other two p99
	VitalHiccupThreadMax     Vital = "hiccup.thread.max"    // a sleep that has not ended yet included
	VitalHiccupGoroutineP99  Vital = "hiccup.goroutine.p99" // up to 1 ms is the timers' granularity
	VitalHiccupGoroutineMax  Vital = "hiccup.goroutine.max"
	VitalHiccupIdleP99       Vital = "hiccup.idle.p99" // absent if the idle process reported nothing
	VitalHiccupIdleMax       Vital = "hiccup.idle.max" // of the sleeps reported so far: reports come every 100 ms, gaps at once
	VitalHiccupPauses        Vital = "hiccup.pauses"   // pauses that ended in the interval
	VitalHiccupPausesDropped Vital = "hiccup.pauses.dropped"

	VitalGoLatencyP50      Vital = "go.sched.latency.p50" // upper edge of its bucket
	VitalGoLatencyP99      Vital = "go.sched.latency.p99"
	VitalGoLatencyMax      Vital = "go.sched.latency.max"
	VitalGoLatencyCount    Vital = "go.sched.latency.count" // about one in eight is sampled; if 0, the latencies are absent
	VitalGoCycles          Vital = "go.gc.cycles"
	VitalGoAssist          Vital = "go.gc.assist"      // CPU times of Go are the runtime's estimates
	VitalGoGCPauseTotal    Vital = "go.gc.pause.total" // pauses are upper bounds, at most a quarter too much
	VitalGoGCPauseMax      Vital = "go.gc.pause.max"
	VitalGoOtherPauseTotal Vital = "go.other.pause.total"
	VitalGoOtherPauseMax   Vital = "go.other.pause.max"
	VitalGoMutexWait       Vital = "go.mutex.wait" // sync.Mutex, sync.RWMutex and the runtime's own; approximate
	VitalGoCPUUser         Vital = "go.cpu.user"   // includes their sleep in a system call that keeps the processor
	VitalGoCPUGC           Vital = "go.cpu.gc"     // without what it did on idle processors, which took nothing from anybody
	VitalGoCPUIdle         Vital = "go.cpu.idle"
	VitalGoCPUTotal        Vital = "go.cpu.total"           // the three above are parts of it
	VitalGoProcs           Vital = "go.procs"               // now
	VitalGoRunnable        Vital = "go.goroutines.runnable" // now, approximate
	VitalGoGoroutines      Vital = "go.goroutines"          // now
	VitalGoHeapLive        Vital = "go.heap.live"           // of the last collection
	VitalGoHeapObjects     Vital = "go.heap.objects"        // now, live or not yet swept

	VitalBrokerCPU        Vital = "broker.cpu"
	VitalBrokerRSS        Vital = "broker.rss"
	VitalBrokerReadBytes  Vital = "broker.read_bytes"
	VitalBrokerWriteBytes Vital = "broker.write_bytes"
	VitalBrokerBusy       Vital = "broker.busy" // of the broker's processes on this machine, the mean of samples 100 ms apart
	VitalBrokerWait       Vital = "broker.wait"

	VitalPacerCount Vital = "pacer.count" // spare ones included
	VitalPacerBusy  Vital = "pacer.busy"  // of each load; absent where the system does not tell
	VitalPacerSpun  Vital = "pacer.spun"
	VitalReaderBusy Vital = "reader.busy" // of each load; absent where it is not known when data came

	VitalProcessThreads     Vital = "process.threads" // now
	VitalProcessRSS         Vital = "process.rss"     // now
	VitalProcessVoluntary   Vital = "process.switches.voluntary"
	VitalProcessInvoluntary Vital = "process.switches.involuntary"
	VitalProcessMajorFaults Vital = "process.faults.major"

	VitalHostSwapIn      Vital = "host.swap.in"
	VitalHostRetransmits Vital = "host.tcp.retransmits" // in this network namespace

	VitalTCPRetransmissions Vital = "tcp.retransmissions" // absent where Sixnines opens no connection
	VitalTCPRTTMax          Vital = "tcp.rtt.max"         // smoothed, over all samples and connections of the interval
	VitalTCPRTTMean         Vital = "tcp.rtt.mean"

	VitalHostSuspended Vital = "host.suspended" // lower bound of how far CLOCK_BOOTTIME advanced beyond CLOCK_MONOTONIC

	VitalCgroupThrottled    Vital = "cgroup.throttled.periods" // of the process's control group and its ancestors, summed
	VitalCgroupThrottleTime Vital = "cgroup.throttled.time"    // summed over the group's cores and the ancestors

	VitalProbeCPU     Vital = "probe.cpu" // of the probe's intervals that it reported in this interval
	VitalProbeSpan    Vital = "probe.span"
	VitalProbeSent    Vital = "probe.sent"
	VitalProbeMissing Vital = "probe.missing"

	// VitalDeliveryEarly is of a process that receives messages of other clocks.
	VitalDeliveryEarly Vital = "delivery.early"

	// These, the one above, and those of the probe except its CPU, are in the closing record.
	VitalLittleSampled   Vital = "little.l_sampled" // measured messages in flight, or deliveries where a message has several
	VitalLittleSamples   Vital = "little.samples"
	VitalLittleSpan      Vital = "little.span"
	VitalLittleReadLate  Vital = "little.read_late"
	VitalLittleTolerance Vital = "little.tolerance"
)

// vitalBroker begins the vitals of a broker's processes.
const vitalBroker = "broker."

// Of returns the vital of one of a broker's several processes: broker.kafka-2.cpu for broker.cpu.
func (v Vital) Of(process string) Vital {
	what, ok := strings.CutPrefix(string(v), vitalBroker)
	if !ok {
		return v
	}
	return Vital(vitalBroker + process + "." + what)
}

// Process splits the vital of a single process into the process and the vital of all processes
// together; for other vitals it returns "" and the vital itself.
func (v Vital) Process() (process string, whole Vital) {
	rest, ok := strings.CutPrefix(string(v), vitalBroker)
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 {
		return "", v
	}
	return rest[:i], Vital(vitalBroker + rest[i+1:])
}

// Unit is the unit of a vital; empty: a figure without a unit.
type Unit string

// The units.
const (
	UnitSeconds Unit = "s"
	UnitNanos   Unit = "ns"
	UnitBytes   Unit = "bytes"
	UnitShare   Unit = "share" // 0 to 1 of the whole, except process.cpu and probe.cpu, whose whole is one core
	UnitCount   Unit = "1"
)

// VitalProperties describes one vital.
type VitalProperties struct {
	Vital   Vital
	Unit    Unit
	Meaning string
	Label   string // of its line in a chart
	// Monitored says that the monitor of the generator and its machine measures it, in every
	// run that is watched. Other vitals belong to a load, its connections, a probe or a broker.
	Monitored bool
}

// Properties returns the properties of a vital; for one that this version does not know, only
// its name.
func (v Vital) Properties() VitalProperties {
	process, whole := v.Process()
	all := Vitals()
	i := slices.IndexFunc(all, func(p VitalProperties) bool { return p.Vital == whole })
	switch {
	case i < 0:
		return VitalProperties{Vital: v}
	case process != "":
		return VitalProperties{Vital: v, Unit: all[i].Unit, Meaning: "of " + process + " alone"}
	}
	return all[i]
}

// Vitals lists the properties of all vitals, in the order of their constants.
func Vitals() []VitalProperties {
	return []VitalProperties{
		{Vital: VitalProcessCPU, Unit: UnitShare, Monitored: true, Label: "generator, of one core", Meaning: "of one core, used by the generator; 200 % is two cores"},
		{Vital: VitalProcessCPUUser, Unit: UnitSeconds, Monitored: true, Meaning: "CPU in user mode"},
		{Vital: VitalProcessCPUSystem, Unit: UnitSeconds, Monitored: true, Meaning: "CPU in the kernel"},
		{Vital: VitalHostBusy, Unit: UnitShare, Monitored: true, Label: "the machine, of all", Meaning: "of the whole machine in use"},
		{Vital: VitalHostPressure, Unit: UnitSeconds, Monitored: true, Meaning: "some task waited for a core"},
		{Vital: VitalHostSteal, Unit: UnitShare, Monitored: true, Label: "stolen, of all", Meaning: "of the machine given to others by the hypervisor"},
		{Vital: VitalHostStealTime, Unit: UnitSeconds, Monitored: true, Meaning: "the same, summed over the cores"},
		{Vital: VitalHiccupThreadP99, Unit: UnitNanos, Monitored: true, Meaning: "added to a thread's sleep by the operating system"},
		{Vital: VitalHiccupThreadMax, Unit: UnitNanos, Monitored: true, Label: "thread late", Meaning: "the most it added"},
		{Vital: VitalHiccupGoroutineP99, Unit: UnitNanos, Monitored: true, Meaning: "added to a goroutine's sleep by runtime and operating system"},
		{Vital: VitalHiccupGoroutineMax, Unit: UnitNanos, Monitored: true, Label: "goroutine late", Meaning: "the most they added"},
		{Vital: VitalHiccupIdleP99, Unit: UnitNanos, Monitored: true, Meaning: "added to the same sleep of a process that does nothing else"},
		{Vital: VitalHiccupIdleMax, Unit: UnitNanos, Monitored: true, Label: "idle process late", Meaning: "the most that was added"},
		{Vital: VitalHiccupPauses, Unit: UnitCount, Monitored: true, Meaning: "gaps beyond the threshold"},
		{Vital: VitalHiccupPausesDropped, Unit: UnitCount, Monitored: true, Meaning: "pauses that were not listed because there were longer ones"},
		{Vital: VitalGoLatencyP50, Unit: UnitNanos, Monitored: true, Meaning: "a runnable goroutine's wait for a processor"},
		{Vital: VitalGoLatencyP99, Unit: UnitNanos, Monitored: true, Label: "goroutines' wait, p99", Meaning: "the same"},
		{Vital: VitalGoLatencyMax, Unit: UnitNanos, Monitored: true, Meaning: "the same, of those sampled"},
		{Vital: VitalGoLatencyCount, Unit: UnitCount, Monitored: true, Meaning: "waits sampled by the runtime"},
		{Vital: VitalGoCycles, Unit: UnitCount, Monitored: true, Meaning: "garbage collections"},
		{Vital: VitalGoAssist, Unit: UnitSeconds, Monitored: true, Meaning: "CPU that allocating goroutines spent helping the garbage collection"},
		{Vital: VitalGoGCPauseTotal, Unit: UnitNanos, Monitored: true, Meaning: "the program paused for garbage collection, at most"},
		{Vital: VitalGoGCPauseMax, Unit: UnitNanos, Monitored: true, Label: "garbage collection pause", Meaning: "the longest such pause, at most"},
		{Vital: VitalGoOtherPauseTotal, Unit: UnitNanos, Monitored: true, Meaning: "the program paused by Go for other reasons, at most"},
		{Vital: VitalGoOtherPauseMax, Unit: UnitNanos, Monitored: true, Meaning: "the longest such pause, at most"},
		{Vital: VitalGoMutexWait, Unit: UnitSeconds, Monitored: true, Meaning: "waited for a mutex, summed over goroutines"},
		{Vital: VitalGoCPUUser, Unit: UnitSeconds, Monitored: true, Meaning: "Go's processors ran goroutines"},
		{Vital: VitalGoCPUGC, Unit: UnitSeconds, Monitored: true, Meaning: "of Go's processors, used for garbage collection, without what idle ones did"},
		{Vital: VitalGoCPUIdle, Unit: UnitSeconds, Monitored: true, Meaning: "Go's processors had nothing to do"},
		{Vital: VitalGoCPUTotal, Unit: UnitSeconds, Monitored: true, Meaning: "elapsed time by GOMAXPROCS"},
		{Vital: VitalGoProcs, Unit: UnitCount, Monitored: true, Meaning: "GOMAXPROCS"},
		{Vital: VitalGoRunnable, Unit: UnitCount, Monitored: true, Meaning: "goroutines that wait for a processor"},
		{Vital: VitalGoGoroutines, Unit: UnitCount, Monitored: true, Meaning: "goroutines"},
		{Vital: VitalGoHeapLive, Unit: UnitBytes, Monitored: true, Meaning: "heap found live by the last collection"},
		{Vital: VitalGoHeapObjects, Unit: UnitBytes, Monitored: true, Meaning: "heap taken by objects"},
		{Vital: VitalBrokerCPU, Unit: UnitSeconds, Meaning: "CPU used by the broker's processes in the interval"},
		{Vital: VitalBrokerRSS, Unit: UnitBytes, Meaning: "their resident memory"},
		{Vital: VitalBrokerReadBytes, Unit: UnitBytes, Meaning: "read from storage for them in the interval"},
		{Vital: VitalBrokerWriteBytes, Unit: UnitBytes, Meaning: "written to storage for them in the interval"},
		{Vital: VitalBrokerBusy, Unit: UnitShare, Monitored: true, Meaning: "of the time that a thread of the broker ran, on this machine: the one by which half of their work was done"},
		{Vital: VitalBrokerWait, Unit: UnitShare, Monitored: true, Meaning: "of the time that it waited for a processor"},
		{Vital: VitalPacerCount, Unit: UnitCount, Meaning: "threads that send on the schedule: one at first, more as these have too much to do or are blocked"},
		{Vital: VitalPacerBusy, Unit: UnitShare, Meaning: "of the time that the busiest of them ran or waited for a processor, without what it spun"},
		{Vital: VitalPacerSpun, Unit: UnitSeconds, Meaning: "that they have spun since they began"},
		{Vital: VitalReaderBusy, Unit: UnitShare, Meaning: "of the time that the busiest reader of a connection worked on what it had read while more had come"},
		{Vital: VitalProcessThreads, Unit: UnitCount, Monitored: true, Meaning: "threads"},
		{Vital: VitalProcessRSS, Unit: UnitBytes, Monitored: true, Meaning: "resident memory"},
		{Vital: VitalProcessVoluntary, Unit: UnitCount, Monitored: true, Meaning: "context switches because a thread had to wait"},
		{Vital: VitalProcessInvoluntary, Unit: UnitCount, Monitored: true, Meaning: "context switches because the core was taken away"},
		{Vital: VitalProcessMajorFaults, Unit: UnitCount, Monitored: true, Meaning: "page faults that needed I/O"},
		{Vital: VitalHostSwapIn, Unit: UnitCount, Monitored: true, Meaning: "pages swapped in"},
		{Vital: VitalHostRetransmits, Unit: UnitCount, Monitored: true, Meaning: "TCP segments retransmitted"},
		{Vital: VitalTCPRetransmissions, Unit: UnitCount, Meaning: "the same, on connections of the generator"},
		{Vital: VitalTCPRTTMax, Unit: UnitNanos, Meaning: "their round trip as measured by the kernel, the largest seen"},
		{Vital: VitalTCPRTTMean, Unit: UnitNanos, Meaning: "the same, their mean"},
		{Vital: VitalHostSuspended, Unit: UnitNanos, Monitored: true, Meaning: "the machine was asleep"},
		{Vital: VitalCgroupThrottled, Unit: UnitCount, Monitored: true, Meaning: "periods in which a CPU quota stopped the process"},
		{Vital: VitalCgroupThrottleTime, Unit: UnitNanos, Monitored: true, Label: "throttled", Meaning: "time stopped by a CPU quota"},
		{Vital: VitalProbeCPU, Unit: UnitShare, Meaning: "of one core, used by the probe beside the load"},
		{Vital: VitalProbeSpan, Unit: UnitNanos, Meaning: "of the window, the time over which the probe measured"},
		{Vital: VitalProbeSent, Unit: UnitCount, Meaning: "messages that the probe sent, from its beginning to its end"},
		{Vital: VitalProbeMissing, Unit: UnitCount, Meaning: "of these, never delivered or acknowledged"},
		{Vital: VitalDeliveryEarly, Unit: UnitNanos, Meaning: "the longest that a message arrived before it was sent, by clocks as they were estimated: it is impossible beyond what is proved of these"},
		{Vital: VitalLittleSampled, Meaning: "messages in flight, as sampled at random times"},
		{Vital: VitalLittleSamples, Unit: UnitCount, Meaning: "number of samples"},
		{Vital: VitalLittleSpan, Unit: UnitNanos, Meaning: "the time over which they were taken"},
		{Vital: VitalLittleReadLate, Unit: UnitNanos, Meaning: "of all acknowledgements, the time from their arrival until they were read and counted, by a driver that reads them late on purpose; part of the expectation"},
		{Vital: VitalLittleTolerance, Meaning: "share by which it may differ from the expectation by service times"},
	}
}
