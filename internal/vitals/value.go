package vitals

import "time"

// Value is one figure of one interval.
type Value struct {
	Name  string  `json:"name"`  // one of the Name constants
	Value float64 `json:"value"` // in Unit; a difference over the interval unless its description says otherwise
	Unit  string  `json:"unit"`  // "s", "ns", "bytes", "share" (0 to 1 of the whole) or "1" (a count)
}

// Sample is what happened between two calls of [Monitor.Sample].
type Sample struct {
	// Start and End bound the interval, in ns as internal/clock counts.
	Start, End int64
	// Values are in the order of [Describe]. A value whose source could not
	// be read is absent, never zero; see [Monitor.Missing].
	Values []Value
}

// Elapsed returns the length of the interval.
func (s Sample) Elapsed() time.Duration { return time.Duration(s.End - s.Start) }

// Lookup returns the value called name, false if the sample has none.
func (s Sample) Lookup(name string) (Value, bool) {
	for _, v := range s.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// The names of the values; [Describe] has their units and meanings.
const (
	NameHiccupThreadP99     = "hiccup.thread.p99"
	NameHiccupThreadMax     = "hiccup.thread.max"
	NameHiccupGoroutineP99  = "hiccup.goroutine.p99"
	NameHiccupGoroutineMax  = "hiccup.goroutine.max"
	NameHiccupIdleP99       = "hiccup.idle.p99"
	NameHiccupIdleMax       = "hiccup.idle.max"
	NameHiccupPauses        = "hiccup.pauses"
	NameHiccupPausesDropped = "hiccup.pauses.dropped"

	NameGoCycles          = "go.gc.cycles"
	NameGoAssist          = "go.gc.assist"
	NameGoGCPauseTotal    = "go.gc.pause.total"
	NameGoGCPauseMax      = "go.gc.pause.max"
	NameGoOtherPauseTotal = "go.other.pause.total"
	NameGoOtherPauseMax   = "go.other.pause.max"
	NameGoLatencyCount    = "go.sched.latency.count"
	NameGoLatencyP50      = "go.sched.latency.p50"
	NameGoLatencyP99      = "go.sched.latency.p99"
	NameGoLatencyMax      = "go.sched.latency.max"
	NameGoMutexWait       = "go.mutex.wait"
	NameGoCPUUser         = "go.cpu.user"
	NameGoCPUGC           = "go.cpu.gc"
	NameGoCPUIdle         = "go.cpu.idle"
	NameGoCPUTotal        = "go.cpu.total"
	NameGoProcs           = "go.procs"
	NameGoRunnable        = "go.goroutines.runnable"
	NameGoGoroutines      = "go.goroutines"
	NameGoHeapLive        = "go.heap.live"
	NameGoHeapObjects     = "go.heap.objects"

	NameProcessCPU         = "process.cpu"
	NameProcessCPUUser     = "process.cpu.user"
	NameProcessCPUSystem   = "process.cpu.system"
	NameProcessVoluntary   = "process.switches.voluntary"
	NameProcessInvoluntary = "process.switches.involuntary"
	NameProcessMajorFaults = "process.faults.major"
	NameProcessThreads     = "process.threads"
	NameProcessRSS         = "process.rss"

	NameHostBusy           = "host.cpu.busy"
	NameHostSteal          = "host.steal"
	NameHostStealTime      = "host.steal.time"
	NameHostPressure       = "host.pressure.cpu"
	NameHostSwapIn         = "host.swap.in"
	NameHostRetransmits    = "host.tcp.retransmits"
	NameHostSuspended      = "host.suspended"
	NameCgroupThrottled    = "cgroup.throttled.periods"
	NameCgroupThrottleTime = "cgroup.throttled.time"
)

// Units of values.
const (
	unitSeconds = "s"
	unitNanos   = "ns"
	unitBytes   = "bytes"
	unitShare   = "share"
	unitCount   = "1"
)

// Description says what a value is.
type Description struct {
	Name, Unit, Meaning string
}

// Describe lists every value that a sample can have, in order.
func Describe() []Description {
	return []Description{
		{NameHiccupThreadP99, unitNanos, "99th percentile of what the operating system added to a 1-ms sleep of a thread, corrected for swallowed wake-ups"},
		{NameHiccupThreadMax, unitNanos, "the most it added, a sleep that has not ended yet included"},
		{NameHiccupGoroutineP99, unitNanos, "99th percentile of what runtime and operating system added to a 1-ms sleep of a goroutine; up to 1 ms is the timers' granularity"},
		{NameHiccupGoroutineMax, unitNanos, "the most they added, a sleep that has not ended yet included"},
		{NameHiccupIdleP99, unitNanos, "99th percentile of what was added to the same sleep of a process that does nothing else; absent where nothing was heard of it"},
		{NameHiccupIdleMax, unitNanos, "the most that was added, of the sleeps that were heard of (every 100 ms, gaps at once)"},
		{NameHiccupPauses, unitCount, "gaps of a meter beyond the threshold that ended"},
		{NameHiccupPausesDropped, unitCount, "pauses forgotten because the list was full of longer ones"},

		{NameGoCycles, unitCount, "garbage collections completed"},
		{NameGoAssist, unitSeconds, "CPU that allocating goroutines spent helping the collector (the runtime's estimate)"},
		{NameGoGCPauseTotal, unitNanos, "time with the world stopped by the collector: upper bound, at most a quarter too much"},
		{NameGoGCPauseMax, unitNanos, "the longest such pause: upper bound, at most a quarter too much"},
		{NameGoOtherPauseTotal, unitNanos, "time with the world stopped for other reasons: upper bound, at most a quarter too much"},
		{NameGoOtherPauseMax, unitNanos, "the longest such pause: upper bound, at most a quarter too much"},
		{NameGoLatencyCount, unitCount, "scheduling latencies sampled by the runtime (about one in eight); without any the next three are absent"},
		{NameGoLatencyP50, unitNanos, "median time that a runnable goroutine waited for a processor: upper edge of its bucket"},
		{NameGoLatencyP99, unitNanos, "99th percentile of the same"},
		{NameGoLatencyMax, unitNanos, "the most of the same, among those sampled"},
		{NameGoMutexWait, unitSeconds, "time that goroutines waited for a mutex (sync.Mutex, sync.RWMutex, or the runtime's own), summed over them; approximate"},
		{NameGoCPUUser, unitSeconds, "processor time in which Go's processors ran the program's goroutines (the runtime's estimate; their sleep in a system call that keeps the processor included)"},
		{NameGoCPUGC, unitSeconds, "processor time that the collector took, what it did on idle processors included (the runtime's estimate)"},
		{NameGoCPUIdle, unitSeconds, "processor time in which Go's processors had nothing to do (the runtime's estimate)"},
		{NameGoCPUTotal, unitSeconds, "processor time there was: elapsed time by GOMAXPROCS, what the three above are shares of"},
		{NameGoProcs, unitCount, "GOMAXPROCS now"},
		{NameGoRunnable, unitCount, "goroutines ready to run and without a processor now (approximate)"},
		{NameGoGoroutines, unitCount, "goroutines now"},
		{NameGoHeapLive, unitBytes, "heap found live by the last collection"},
		{NameGoHeapObjects, unitBytes, "heap taken by objects now, live or not yet swept"},

		{NameProcessCPU, unitShare, "CPU used by this process as a share of one core; 2 is two cores"},
		{NameProcessCPUUser, unitSeconds, "CPU used in user mode"},
		{NameProcessCPUSystem, unitSeconds, "CPU used in the kernel"},
		{NameProcessVoluntary, unitCount, "context switches because a thread had to wait"},
		{NameProcessInvoluntary, unitCount, "context switches because the kernel gave the core to another thread"},
		{NameProcessMajorFaults, unitCount, "page faults that needed I/O"},
		{NameProcessThreads, unitCount, "threads now"},
		{NameProcessRSS, unitBytes, "resident memory now"},

		{NameHostBusy, unitShare, "CPU time of the machine not spent idle, waiting for I/O or stolen; resolution one tick (10 ms) of one core"},
		{NameHostSteal, unitShare, "CPU time of the machine that the hypervisor gave to others; same resolution"},
		{NameHostStealTime, unitSeconds, "the same, summed over the cores"},
		{NameHostPressure, unitSeconds, "time during which some task of the machine waited for a core (PSI)"},
		{NameHostSwapIn, unitCount, "pages swapped in on the machine"},
		{NameHostRetransmits, unitCount, "TCP segments retransmitted in this network namespace"},
		{NameHostSuspended, unitNanos, "time asleep: by how much CLOCK_BOOTTIME outran CLOCK_MONOTONIC for certain"},
		{NameCgroupThrottled, unitCount, "periods in which a CPU quota stopped this process's control group or an ancestor, summed over them"},
		{NameCgroupThrottleTime, unitNanos, "time stopped by a CPU quota, summed over the group's cores and the ancestors"},
	}
}
