package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/result"
)

// vital is what the report knows of a figure in the vitals of a result file.
// Files of other versions may hold others, which are shown as bare numbers.
type vital struct {
	name, unit, means string
}

// The units of vitals.
const (
	unitNone    = ""
	unitSeconds = "s"
	unitNanos   = "ns"
	unitBytes   = "bytes"
	unitShare   = "share"
	unitCount   = "1"
)

// knownVitals lists the vitals in the order in which they are shown; their
// names and units are those that internal/vitals writes.
func knownVitals() []vital {
	return []vital{
		{"process.cpu", unitShare, "of one core, used by the generator; 200 % is two cores"},
		{"process.cpu.user", unitSeconds, "CPU in user mode"},
		{"process.cpu.system", unitSeconds, "CPU in the kernel"},
		{"host.cpu.busy", unitShare, "of the whole machine in use"},
		{"host.pressure.cpu", unitSeconds, "some task waited for a core"},
		{"host.steal", unitShare, "of the machine given to others by the hypervisor"},
		{"host.steal.time", unitSeconds, "the same, summed over the cores"},
		{"hiccup.thread.p99", unitNanos, "added to a thread's sleep by the operating system"},
		{"hiccup.thread.max", unitNanos, "the most it added"},
		{"hiccup.goroutine.p99", unitNanos, "added to a goroutine's sleep by runtime and operating system"},
		{"hiccup.goroutine.max", unitNanos, "the most they added"},
		{"hiccup.idle.p99", unitNanos, "added to the same sleep of a process that does nothing else"},
		{"hiccup.idle.max", unitNanos, "the most that was added"},
		{"hiccup.pauses", unitCount, "gaps beyond the threshold"},
		{"hiccup.pauses.dropped", unitCount, "pauses that were not listed because there were longer ones"},
		{"go.sched.latency.p50", unitNanos, "a runnable goroutine's wait for a processor"},
		{"go.sched.latency.p99", unitNanos, "the same"},
		{"go.sched.latency.max", unitNanos, "the same, of those sampled"},
		{"go.sched.latency.count", unitCount, "waits sampled by the runtime"},
		{"go.gc.cycles", unitCount, "garbage collections"},
		{"go.gc.assist", unitSeconds, "CPU that allocating goroutines spent helping the garbage collection"},
		{"go.gc.pause.total", unitNanos, "the program paused for garbage collection, at most"},
		{"go.gc.pause.max", unitNanos, "the longest such pause, at most"},
		{"go.other.pause.total", unitNanos, "the program paused by Go for other reasons, at most"},
		{"go.other.pause.max", unitNanos, "the longest such pause, at most"},
		{"go.mutex.wait", unitSeconds, "waited for a mutex, summed over goroutines"},
		{"go.cpu.user", unitSeconds, "Go's processors ran goroutines"},
		{"go.cpu.gc", unitSeconds, "of Go's processors, used for garbage collection"},
		{"go.cpu.idle", unitSeconds, "Go's processors had nothing to do"},
		{"go.cpu.total", unitSeconds, "elapsed time by GOMAXPROCS"},
		{"go.procs", unitCount, "GOMAXPROCS"},
		{"go.goroutines.runnable", unitCount, "goroutines that wait for a processor"},
		{"go.goroutines", unitCount, "goroutines"},
		{"go.heap.live", unitBytes, "heap found live by the last collection"},
		{"go.heap.objects", unitBytes, "heap taken by objects"},
		{"broker.cpu", unitSeconds, "CPU used by the broker's processes in the interval"},
		{"broker.rss", unitBytes, "their resident memory"},
		{"broker.read_bytes", unitBytes, "read from storage for them in the interval"},
		{"broker.write_bytes", unitBytes, "written to storage for them in the interval"},
		{"process.threads", unitCount, "threads"},
		{"process.rss", unitBytes, "resident memory"},
		{"process.switches.voluntary", unitCount, "context switches because a thread had to wait"},
		{"process.switches.involuntary", unitCount, "context switches because the core was taken away"},
		{"process.faults.major", unitCount, "page faults that needed I/O"},
		{"host.swap.in", unitCount, "pages swapped in"},
		{"host.tcp.retransmits", unitCount, "TCP segments retransmitted"},
		{"tcp.retransmissions", unitCount, "the same, on connections of the generator"},
		{"tcp.rtt.max", unitNanos, "their round trip as measured by the kernel, the largest seen"},
		{"tcp.rtt.mean", unitNanos, "the same, their mean"},
		{"host.suspended", unitNanos, "the machine was asleep"},
		{"cgroup.throttled.periods", unitCount, "periods in which a CPU quota stopped the process"},
		{"cgroup.throttled.time", unitNanos, "time stopped by a CPU quota"},
		{"probe.cpu", unitShare, "of one core, used by the probe beside the load"},
		{"probe.span", unitNanos, "of the window, the time over which the probe measured"},
		{"probe.sent", unitCount, "messages that the probe sent, from its beginning to its end"},
		{"probe.missing", unitCount, "of these, never delivered or acknowledged"},
		{"little.l_sampled", unitNone, "messages in flight, as sampled at random times"},
		{"little.samples", unitCount, "number of samples"},
		{"little.span", unitNanos, "the time over which they were taken"},
		{"little.tolerance", unitNone, "share by which it may differ from the expectation by service times"},
	}
}

// text writes a value of the vital.
func (v vital) text(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	switch v.unit {
	case unitSeconds:
		return durationFloat(x * 1e9)
	case unitNanos:
		return durationFloat(x)
	case unitBytes:
		return size(int64(x))
	case unitShare:
		return share(x)
	case unitCount:
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return count(int64(x))
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// vitalRows gives the least, the median and the largest value of each vital
// over the intervals of the measured window.
func vitalRows(r *result.Run) []row {
	values := map[string][]float64{}
	for _, p := range r.Series {
		if p.Phase == result.PhaseMeasure {
			for k, v := range p.Vitals {
				values[k] = append(values[k], v)
			}
		}
	}
	var out []row
	add := func(v vital) {
		x := values[v.name]
		slices.Sort(x)
		// The median is a value that was seen: the lower of two in the middle.
		out = append(out, row{Cells: cells(plain(v.name), v.text(x[0]), v.text(x[(len(x)-1)/2]), v.text(x[len(x)-1]), v.means)})
		delete(values, v.name)
	}
	for _, v := range knownVitals() {
		if len(values[v.name]) > 0 {
			add(v)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		v := vital{name: k}
		if process, what := brokerProcess(k); process != "" {
			v.unit = map[string]string{"cpu": unitSeconds, "rss": unitBytes, "read_bytes": unitBytes, "write_bytes": unitBytes}[what]
			v.means = "of " + plain(process) + " alone"
		}
		add(v)
	}
	return out
}

// brokerProcess splits the name of a vital of one of several of the broker's
// processes, such as broker.kafka-2.cpu; empty for others.
func brokerProcess(name string) (process, what string) {
	rest, ok := strings.CutPrefix(name, "broker.")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
}

// brokerUse says what the broker's processes have used in the measured window,
// where that was watched.
func brokerUse(r *result.Run) []string {
	var cpu, written, length float64
	var rss float64
	watched := false
	for _, p := range r.Series {
		if p.Phase != result.PhaseMeasure {
			continue
		}
		if x, ok := p.Vitals["broker.cpu"]; ok {
			cpu += x
			length += float64(p.End-p.Start) / 1e9
			watched = true
		}
		written += p.Vitals["broker.write_bytes"]
		rss = max(rss, p.Vitals["broker.rss"])
	}
	if !watched || length <= 0 {
		return nil
	}
	out := []string{share(cpu/length) + " of one core"}
	if rss > 0 {
		out = append(out, size(int64(rss))+" of memory")
	}
	if written > 0 {
		out = append(out, size(int64(written/length))+"/s written to storage")
	}
	return out
}
