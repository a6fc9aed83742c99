package thread

import "golang.org/x/sys/unix"

// Slices that threads request from Linux's scheduler, in ns. Since Linux 6.12 a
// thread with a shorter slice gets a processor sooner (EEVDF,
// sched_attr.sched_runtime). This needs no privilege; older kernels ignore it.
const (
	shortSlice = 100_000
	longSlice  = 100_000_000 // the longest that the kernel takes
	lowNice    = 10
)

// begun is how the process was scheduled at its start: package variables are initialised
// on the first thread. It never changes.
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

// Lower gives the calling thread a low priority (nice 10) and the longest slice:
// encoding an interval's histograms can wait, messages cannot. A thread with a
// shorter slice, as all others have, preempts it as soon as it wakes.
func Lower() {
	if begun.attr != nil {
		set(max(lowNice, begun.attr.Nice), longSlice)
	}
}

// ShortenSlice gives the calling thread a slice of 100 µs, so that it gets a processor soon
// after it wakes. It is for threads that wake, do little and sleep again.
func ShortenSlice() {
	if begun.attr != nil {
		set(begun.attr.Nice, shortSlice)
	}
}

// set does nothing if the process was started under another policy than SCHED_NORMAL. If the
// kernel refuses, the thread keeps its settings; the measured lag shows the effect.
func set(nice int32, slice uint64) {
	if begun.attr.Policy == unix.SCHED_NORMAL {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: nice, Runtime: slice}, 0)
	}
}

// Reset schedules the calling thread as the process was at its start. Call it on a locked
// thread before starting another program: the child inherits the slice and the timer slack
// of the thread that starts it.
func Reset() {
	if begun.attr != nil {
		set(begun.attr.Nice, begun.attr.Runtime)
	}
	if begun.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(begun.slack), 0, 0, 0)
	}
}

// Reader keeps the current thread of a goroutine at a short slice. The goroutine need not
// be locked to a thread. One goroutine at a time may use it. The zero value is ready.
type Reader struct {
	calls  uint
	thread int
}

// lookEvery is the number of calls after which a Reader checks whether the goroutine has
// moved to another thread: gettid is a system call.
const lookEvery = 32

// ShortenSlice must be called by the goroutine each time before it waits.
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
