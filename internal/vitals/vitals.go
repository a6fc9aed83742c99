// Package vitals watches the load generator itself and the machine it runs on.
//
// A latency figure is worth what its clockwork is worth, so three questions
// are answered beside every measurement:
//
//   - On what was it measured? [Fingerprint] lists the machine, the kernel, the
//     limits and the build as facts for the result file.
//   - Is the machine fit for it? [Checkup] measures what can be measured in a
//     third of a second and says what to do about each finding.
//   - What happened to the generator meanwhile? A [Monitor] keeps two hiccup
//     meters running and turns the counters of the process, the Go runtime, the
//     host and its control groups into deltas once a second.
//
// # The hiccup meters
//
// Each meter sleeps for a period (1 ms) over and over and records by how much
// it overslept, with the expected-interval correction of jHiccup: a gap of
// 300 ms stands for the 299 wake-ups that it swallowed. The thread meter is an
// operating-system thread in a raw absolute sleep, whose wake-up is stamped
// before Go's scheduler is asked for a processor; what it sees is the kernel
// and the hypervisor. The goroutine meter sleeps on a Go timer and sees the
// runtime as well: timers rounded to the next millisecond, a stopped world, a
// long run queue. Comparing them tells whose fault a gap was. What stops both
// at once ([Freezes]) stopped the whole process: a SIGSTOP, a frozen container,
// a paused virtual machine, or no processor for anybody.
//
// They are not free: on an otherwise idle runtime of a 2-core virtual machine,
// which others were loading, both together took 6.5 % of one core at 1 ms and
// 2.7 % at 4 ms (BenchmarkBothMeters, one run). A thread that keeps its
// processor while it sleeps cost 1.8 % there against 4.3 % with the stamped
// sleep, with 1.3 context switches a wake-up against 3.5, but it would take
// that processor from the load.
//
// Hiccups are never subtracted from anything. They attribute and they
// invalidate.
//
// # What is not here
//
// Migrations between processors are not counted: the kernel offers them only
// per thread (a file for each) or by perf events that ordinary users may not
// open for kernel-side events. Involuntary switches are the cheap witness.
package vitals
