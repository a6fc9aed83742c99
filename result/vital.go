package result

// Vital is what is known of a figure in [Interval.Vitals].
type Vital struct {
	Name, Unit, Meaning string
}

// The units of Vital.Unit; empty: a figure without one.
const (
	UnitSeconds = "s"
	UnitNanos   = "ns"
	UnitBytes   = "bytes"
	UnitShare   = "share" // 0 to 1 of the whole, except process.cpu and probe.cpu, whose whole is one core
	UnitCount   = "1"
)

// Vitals lists the vitals that this version writes, in the order in which reports
// show them. Files of other versions may hold others, and those of one of several
// of a broker's processes (broker.NAME.cpu) are not listed.
func Vitals() []Vital {
	return []Vital{
		{"process.cpu", UnitShare, "of one core, used by the generator; 200 % is two cores"},
		{"process.cpu.user", UnitSeconds, "CPU in user mode"},
		{"process.cpu.system", UnitSeconds, "CPU in the kernel"},
		{"host.cpu.busy", UnitShare, "of the whole machine in use"},
		{"host.pressure.cpu", UnitSeconds, "some task waited for a core"},
		{"host.steal", UnitShare, "of the machine given to others by the hypervisor"},
		{"host.steal.time", UnitSeconds, "the same, summed over the cores"},
		{"hiccup.thread.p99", UnitNanos, "added to a thread's sleep by the operating system"},
		{"hiccup.thread.max", UnitNanos, "the most it added"},
		{"hiccup.goroutine.p99", UnitNanos, "added to a goroutine's sleep by runtime and operating system"},
		{"hiccup.goroutine.max", UnitNanos, "the most they added"},
		{"hiccup.idle.p99", UnitNanos, "added to the same sleep of a process that does nothing else"},
		{"hiccup.idle.max", UnitNanos, "the most that was added"},
		{"hiccup.pauses", UnitCount, "gaps beyond the threshold"},
		{"hiccup.pauses.dropped", UnitCount, "pauses that were not listed because there were longer ones"},
		{"go.sched.latency.p50", UnitNanos, "a runnable goroutine's wait for a processor"},
		{"go.sched.latency.p99", UnitNanos, "the same"},
		{"go.sched.latency.max", UnitNanos, "the same, of those sampled"},
		{"go.sched.latency.count", UnitCount, "waits sampled by the runtime"},
		{"go.gc.cycles", UnitCount, "garbage collections"},
		{"go.gc.assist", UnitSeconds, "CPU that allocating goroutines spent helping the garbage collection"},
		{"go.gc.pause.total", UnitNanos, "the program paused for garbage collection, at most"},
		{"go.gc.pause.max", UnitNanos, "the longest such pause, at most"},
		{"go.other.pause.total", UnitNanos, "the program paused by Go for other reasons, at most"},
		{"go.other.pause.max", UnitNanos, "the longest such pause, at most"},
		{"go.mutex.wait", UnitSeconds, "waited for a mutex, summed over goroutines"},
		{"go.cpu.user", UnitSeconds, "Go's processors ran goroutines"},
		{"go.cpu.gc", UnitSeconds, "of Go's processors, used for garbage collection"},
		{"go.cpu.idle", UnitSeconds, "Go's processors had nothing to do"},
		{"go.cpu.total", UnitSeconds, "elapsed time by GOMAXPROCS"},
		{"go.procs", UnitCount, "GOMAXPROCS"},
		{"go.goroutines.runnable", UnitCount, "goroutines that wait for a processor"},
		{"go.goroutines", UnitCount, "goroutines"},
		{"go.heap.live", UnitBytes, "heap found live by the last collection"},
		{"go.heap.objects", UnitBytes, "heap taken by objects"},
		{"broker.cpu", UnitSeconds, "CPU used by the broker's processes in the interval"},
		{"broker.rss", UnitBytes, "their resident memory"},
		{"broker.read_bytes", UnitBytes, "read from storage for them in the interval"},
		{"broker.write_bytes", UnitBytes, "written to storage for them in the interval"},
		{"broker.busy", UnitShare, "of the time that a thread of the broker ran, on this machine: the one by which half of their work was done"},
		{"broker.wait", UnitShare, "of the time that it waited for a processor"},
		{"pacer.count", UnitCount, "threads that send on the schedule: one at first, more as these have too much to do or are blocked"},
		{"pacer.busy", UnitShare, "of the time that the busiest of them ran or waited for a processor, without what it spun"},
		{"pacer.spun", UnitSeconds, "that they have spun since they began"},
		{"process.threads", UnitCount, "threads"},
		{"process.rss", UnitBytes, "resident memory"},
		{"process.switches.voluntary", UnitCount, "context switches because a thread had to wait"},
		{"process.switches.involuntary", UnitCount, "context switches because the core was taken away"},
		{"process.faults.major", UnitCount, "page faults that needed I/O"},
		{"host.swap.in", UnitCount, "pages swapped in"},
		{"host.tcp.retransmits", UnitCount, "TCP segments retransmitted"},
		{"tcp.retransmissions", UnitCount, "the same, on connections of the generator"},
		{"tcp.rtt.max", UnitNanos, "their round trip as measured by the kernel, the largest seen"},
		{"tcp.rtt.mean", UnitNanos, "the same, their mean"},
		{"host.suspended", UnitNanos, "the machine was asleep"},
		{"cgroup.throttled.periods", UnitCount, "periods in which a CPU quota stopped the process"},
		{"cgroup.throttled.time", UnitNanos, "time stopped by a CPU quota"},
		{"probe.cpu", UnitShare, "of one core, used by the probe beside the load"},
		{"probe.span", UnitNanos, "of the window, the time over which the probe measured"},
		{"probe.sent", UnitCount, "messages that the probe sent, from its beginning to its end"},
		{"probe.missing", UnitCount, "of these, never delivered or acknowledged"},
		{"little.l_sampled", "", "messages in flight, as sampled at random times"},
		{"little.samples", UnitCount, "number of samples"},
		{"little.span", UnitNanos, "the time over which they were taken"},
		{"little.read_late", UnitNanos, "of all acknowledgements, the time from their arrival until they were read and counted, by a driver that reads them late on purpose; part of the expectation"},
		{"little.tolerance", "", "share by which it may differ from the expectation by service times"},
	}
}
