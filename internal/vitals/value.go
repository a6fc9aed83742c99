package vitals

import (
	"slices"
	"strings"
	"time"

	"sixnines/result"
)

// Value is one figure of one interval.
type Value struct {
	Name  string // one of the Name constants
	Value float64
}

// Sample is what happened between two calls of [Monitor.Sample].
type Sample struct {
	// Start and End bound the interval, in ns as internal/clock counts.
	Start, End int64
	// Values has each at most once. A value whose source could not be read is
	// absent, never zero; see [Monitor.Missing].
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

// The names of the values; [Describe] has their units and meanings. A value is a
// difference over the interval, unless it is said to be of now.
const (
	NameHiccupThreadP99     = "hiccup.thread.p99"    // corrected for swallowed wake-ups, as are the other two
	NameHiccupThreadMax     = "hiccup.thread.max"    // a sleep that has not ended yet included
	NameHiccupGoroutineP99  = "hiccup.goroutine.p99" // up to 1 ms is the timers' granularity
	NameHiccupGoroutineMax  = "hiccup.goroutine.max"
	NameHiccupIdleP99       = "hiccup.idle.p99" // absent where nothing was heard of the process
	NameHiccupIdleMax       = "hiccup.idle.max" // of the sleeps that were heard of: every 100 ms, gaps at once
	NameHiccupPauses        = "hiccup.pauses"   // those that ended
	NameHiccupPausesDropped = "hiccup.pauses.dropped"

	NameGoCycles          = "go.gc.cycles"
	NameGoAssist          = "go.gc.assist"      // CPU times of Go are the runtime's estimates
	NameGoGCPauseTotal    = "go.gc.pause.total" // pauses are upper bounds, at most a quarter too much
	NameGoGCPauseMax      = "go.gc.pause.max"
	NameGoOtherPauseTotal = "go.other.pause.total"
	NameGoOtherPauseMax   = "go.other.pause.max"
	NameGoLatencyCount    = "go.sched.latency.count" // about one in eight is sampled; without any the next three are absent
	NameGoLatencyP50      = "go.sched.latency.p50"   // upper edge of its bucket
	NameGoLatencyP99      = "go.sched.latency.p99"
	NameGoLatencyMax      = "go.sched.latency.max"
	NameGoMutexWait       = "go.mutex.wait" // sync.Mutex, sync.RWMutex and the runtime's own; approximate
	NameGoCPUUser         = "go.cpu.user"   // includes their sleep in a system call that keeps the processor
	NameGoCPUGC           = "go.cpu.gc"     // includes what it did on idle processors
	NameGoCPUIdle         = "go.cpu.idle"
	NameGoCPUTotal        = "go.cpu.total"           // what the three above are shares of
	NameGoProcs           = "go.procs"               // now
	NameGoRunnable        = "go.goroutines.runnable" // now, approximate
	NameGoGoroutines      = "go.goroutines"          // now
	NameGoHeapLive        = "go.heap.live"           // of the last collection
	NameGoHeapObjects     = "go.heap.objects"        // now, live or not yet swept

	NameProcessCPU         = "process.cpu"
	NameProcessCPUUser     = "process.cpu.user"
	NameProcessCPUSystem   = "process.cpu.system"
	NameProcessVoluntary   = "process.switches.voluntary"
	NameProcessInvoluntary = "process.switches.involuntary"
	NameProcessMajorFaults = "process.faults.major"
	NameProcessThreads     = "process.threads" // now
	NameProcessRSS         = "process.rss"     // now

	NameHostBusy           = "host.cpu.busy" // not idle, waiting for I/O or stolen; resolution one tick (10 ms) of one core
	NameHostSteal          = "host.steal"    // same resolution
	NameHostStealTime      = "host.steal.time"
	NameHostPressure       = "host.pressure.cpu" // PSI
	NameHostSwapIn         = "host.swap.in"
	NameHostRetransmits    = "host.tcp.retransmits"     // in this network namespace
	NameHostSuspended      = "host.suspended"           // by how much CLOCK_BOOTTIME outran CLOCK_MONOTONIC for certain
	NameCgroupThrottled    = "cgroup.throttled.periods" // of the process's control group and its ancestors, summed
	NameCgroupThrottleTime = "cgroup.throttled.time"    // summed over the group's cores and the ancestors

	NameBrokerBusy = "broker.busy" // of the broker's processes on this machine, the mean of looks a tenth of a second apart
	NameBrokerWait = "broker.wait"
)

// Describe lists every value that a sample can have.
func Describe() []result.Vital {
	return slices.DeleteFunc(result.Vitals(), func(v result.Vital) bool {
		family, _, _ := strings.Cut(v.Name, ".")
		return !slices.Contains([]string{"hiccup", "go", "process", "host", "cgroup"}, family) && v.Name != NameBrokerBusy && v.Name != NameBrokerWait
	})
}
