// Package vitals watches the load generator itself and the machine it runs on.
//
// A latency figure depends on the machine and the process that measured it, so three
// questions are answered beside every measurement:
//
//   - On what was it measured? [Fingerprint] lists the machine, the kernel, the
//     limits and the build as facts for the result file.
//   - Is the machine fit for it? [Checkup] measures for a third of a second and
//     says what to do about each finding.
//   - What happened to the generator meanwhile? A [Monitor] runs three hiccup
//     meters, turns the counters of the process, the Go runtime, the host and its
//     control groups into deltas once a second, and reports when the counters grew
//     that explain a pause.
//
// # The hiccup meters
//
// Each meter sleeps for a period (1 ms) over and over and records by how much
// it overslept, with the expected-interval correction of jHiccup: a gap of
// 300 ms counts as the 299 wake-ups that it replaced. The thread meter is an
// operating-system thread in a raw absolute sleep, whose wake-up is stamped
// before Go's scheduler is asked for a processor; what it sees is the kernel
// and the hypervisor. The goroutine meter sleeps on a Go timer and sees the
// runtime as well: timers rounded to the next millisecond, a stopped world, a
// long run queue. Comparing them shows which of them caused a gap. What stops both
// at once ([Freezes]) stopped the whole process: a SIGSTOP, a frozen container,
// a paused virtual machine, or no processor for any process.
//
// They are not free: on an otherwise idle runtime of a 2-core virtual machine,
// which others were loading, both together took 6.5 % of one core at 1 ms and
// 2.7 % at 4 ms (BenchmarkBothMeters, one run). A thread that keeps its
// processor while it sleeps cost 1.8 % there against 4.3 % with the stamped
// sleep, with 1.3 context switches a wake-up against 3.5, but it would take
// that processor from the load.
//
// The third meter is a separate process ([ServeIdle]) that does nothing else: one
// processor for Go code, no collector, no load. A gap that the generator has and
// the idle process has not is the generator's own. The idle process is a process
// group of its own, so Ctrl-Z stops only the generator. It is in the same control
// groups, so an exhausted quota stops both, and its gaps are then left out. A
// paused container looks like a paused machine. It reports its wake-ups in
// batches, ten a second, and gaps at once, with instants of CLOCK_MONOTONIC,
// which the processes share.
//
// Hiccups are never subtracted from anything. They are for attribution and for
// the verdict.
//
// # Pauses from counters
//
// Some counters say why a process was paused. They are read every 20 ms (quotas,
// waiting for a processor, page faults from disk, the collector) or 100 ms
// (steal, in ticks of 10 ms). Growth beyond a limit becomes a [Pause] between two
// readings ("looks"). That is coarser than a meter: a pause of 20 ms may be 2 ms
// of waiting. If a look was late because the process was paused, only as much
// time as the growth can have taken counts, at the end of the interval, because
// these counters grow when a wait is over. A look takes some 15 µs with eight
// threads (BenchmarkLook), less than a thousandth of a core.
//
// The kernel counts the time that each thread waited for a processor, also in
// control groups and without PSI, but not which process had the processor: a
// process with too much to do waits for its own threads. So the waiting time is
// multiplied by the share of processor time that others used, after subtracting
// what a quota may explain (see contention). A broker on the same machine counts
// as one of the others.
//
// # A broker on this machine
//
// The monitor reads ten times a second how long the threads of the processes at the
// other end of this process's connections ran and waited for a processor. If that makes
// messages in the broker's queues wait three times as long ([stats.QueueDelay]), the
// time between two readings is a [Pause] ([result.PauseStarved]). A look at a broker with
// a hundred threads takes some 0.2 ms (BenchmarkBrokerLook).
//
// # What is not here
//
// Migrations between processors are not counted: the kernel offers them only
// per thread (a file for each) or by perf events that ordinary users may not
// open for kernel-side events. Involuntary switches cost least to count.
package vitals
