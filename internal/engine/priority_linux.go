package engine

import "golang.org/x/sys/unix"

// Slices that threads ask of Linux's scheduler, in ns. Since Linux 6.12 a
// thread that waits for a processor for less time at once gets it sooner
// (EEVDF, sched_attr.sched_runtime), without any privilege; older kernels
// ignore it.
const (
	shortSlice = 100_000
	longSlice  = 100_000_000 // the longest that the kernel takes
)

// lowerPriority makes the calling thread yield to others: encoding an interval's
// histograms can wait, messages cannot. A thread with a shorter slice, as all
// others have, takes the processor from it as soon as it wakes.
func lowerPriority() { setSlice(10, longSlice) }

// raisePriority lets the calling thread, which wakes to send something now and
// sleeps again, have its processor soon.
func raisePriority() { setSlice(0, shortSlice) }

func setSlice(nice int32, slice uint64) {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: nice, Runtime: slice}
	_ = unix.SchedSetAttr(0, &attr, 0) // refused: the thread stays as it was, and the lag shows it
}
