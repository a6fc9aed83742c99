package thread

import "golang.org/x/sys/unix"

// Slices that threads ask of Linux's scheduler, in ns. Since Linux 6.12 a
// thread that waits for a processor for less time at once gets it sooner
// (EEVDF, sched_attr.sched_runtime), without any privilege; older kernels
// ignore it.
const (
	shortSlice = 100_000
	longSlice  = 100_000_000 // the longest that the kernel takes
	lowNice    = 10
)

// begun is how the process was scheduled when it began: variables are initialised on
// its first thread.
var begun = settings()

type scheduling struct {
	attr  *unix.SchedAttr // nil: unknown
	slack int             // of timers, ns; 0: unknown
}

func settings() (s scheduling) {
	s.attr, _ = unix.SchedGetAttr(0, 0)
	s.slack, _ = unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return s
}

// Lower makes the calling thread yield to others: encoding an interval's
// histograms can wait, messages cannot. A thread with a shorter slice, as all
// others have, takes the processor from it as soon as it wakes.
func Lower() {
	if begun.attr != nil {
		set(max(lowNice, begun.attr.Nice), longSlice)
	}
}

// ShortenSlice lets the calling thread, which wakes to do something short and sleeps
// again, have its processor soon.
func ShortenSlice() {
	if begun.attr != nil {
		set(begun.attr.Nice, shortSlice)
	}
}

// set does nothing where somebody has given the process a policy of its own. Where the
// kernel refuses, the thread stays as it was, and the lag shows it.
func set(nice int32, slice uint64) {
	if begun.attr.Policy == unix.SCHED_NORMAL {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: nice, Runtime: slice}, 0)
	}
}

// Reset has the calling thread scheduled as the process was when it began. Whoever
// starts another program calls it before: a broker would else have the slice and the
// timer slack of the thread that happened to start it.
func Reset() {
	if begun.attr != nil {
		set(begun.attr.Nice, begun.attr.Runtime)
	}
	if begun.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(begun.slack), 0, 0, 0)
	}
}

// Reader keeps whatever thread a goroutine runs on at a short slice. The goroutine need
// not be locked to it. The zero value is ready.
type Reader struct {
	calls  uint
	thread int
}

// lookEvery is how many calls later it is looked whether the goroutine has moved.
const lookEvery = 32

// ShortenSlice is called by the goroutine each time that it is about to wait.
func (r *Reader) ShortenSlice() {
	r.calls++
	if r.calls%lookEvery != 1 {
		return
	}
	if id := unix.Gettid(); id != r.thread {
		r.thread = id
		ShortenSlice()
	}
}
