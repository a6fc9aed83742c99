// Package vitals watches the load generator itself and the machine it runs on.
//
// A latency figure depends on the machine and the process that measured it, so three
// questions are answered beside every measurement:
//
//   - On what was it measured? [Fingerprint] lists the machine, the kernel, the
//     limits and the build as facts for the result file.
//   - Is the machine fit for it? [Checkup] measures what can be measured in a
//     third of a second and says what to do about each finding.
//   - What happened to the generator meanwhile? A [Monitor] keeps three hiccup
//     meters running, turns the counters of the process, the Go runtime, the
//     host and its control groups into deltas once a second, and reports when those
//     grew that explain a pause.
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
// The third meter is a process apart ([ServeIdle]), which does nothing else: one
// processor for Go code, no collector, no load. What stops the generator and not
// it is in the generator alone. It is a process group of its own, so Ctrl-Z
// stops the generator alone; it is in the same control groups, so a quota that
// runs out stops both, and its gaps are left out then; a paused container looks
// like a paused machine. It reports its wake-ups in batches, ten a
// second, and of gaps at once, by instants of CLOCK_MONOTONIC, which processes
// share.
//
// Hiccups are never subtracted from anything. They are for attribution and for
// the verdict.
//
// # Pauses from counters
//
// Some counters say why a process was paused. They are looked at every 20 ms
// (quotas, waiting for a processor, page faults from disk, the collector) or
// 100 ms (steal, in ticks of 10 ms), and growth that matters becomes a [Pause]
// between two looks. That is coarser than a meter: a pause of 20 ms may be 2 ms
// of waiting. A look that came late because the process was paused is cut to
// what the growth may have taken, at its end, since all these are counted when
// they are over. A look takes some 15 µs with eight threads (BenchmarkLook), less
// than a thousandth of a core.
//
// Waiting for a processor is counted by the kernel for each thread, in control
// groups and without PSI as well, but not for which process: a process with too
// much to do waits for itself. So the waiting is divided by who used the
// processors meanwhile, and what a quota may explain is subtracted first (see
// contention). A broker on the same machine is one of the others.
//
// # A broker on this machine
//
// The threads of the processes at the other end of this one's connections are read ten
// times a second for how long they ran and waited for a processor. Where what waits in the
// broker waits three times as long for that ([stats.QueueDelay]) the stretch is a [Pause]
// ([result.PauseStarved]). A look at a broker with a hundred threads takes some 0.2 ms
// (BenchmarkBrokerLook).
//
// # What is not here
//
// Migrations between processors are not counted: the kernel offers them only
// per thread (a file for each) or by perf events that ordinary users may not
// open for kernel-side events. Involuntary switches cost least to count.
package vitals
