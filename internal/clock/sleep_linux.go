package clock

import (
	"fmt"
	"math"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps until the absolute instant t (as [Now] counts) without
// telling Go's scheduler: the thread keeps its processor (P) while it sleeps,
// so it runs on the moment the kernel wakes it. It returns at once if t has
// passed. Lock the goroutine to its thread and set [SetTimerSlack] to 1 first,
// or the kernel adds up to 50 µs.
//
// Use it for the last stretch before an instant that matters. The price: for
// as long as it sleeps no other goroutine runs on that processor, and whatever
// needs all processors to stop (the collector's phases, a stack dump) waits
// until the runtime's preemption signal interrupts the sleep, or until its end
// where signals are off (GODEBUG=asyncpreemptoff=1). So keep it short, at most
// 500 µs, or give the thread a processor of its own by raising GOMAXPROCS by
// one. For longer waits use [SleepUntilBlocking].
func SleepUntil(t int64) {
	ts := unix.NsecToTimespec(t)
	for {
		_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if errno != unix.EINTR {
			return // slept, or t is not a time (negative), which has passed
		}
		// Most likely the runtime asks this goroutine to stop. RawSyscall6
		// has no stack check that would see it, hence:
		safepoint(0)
	}
}

// SleepUntilKeeping is [SleepUntil] that returns when the kernel let the thread go
// on: a clock reading taken before anything else. It sleeps once: woke is before
// t where a signal ended the sleep early; if that was the runtime's, the runtime has
// stopped the thread as it wanted when the call returns. woke − t is what the operating
// system added, and the runtime nothing: the processor was never given up.
//
// A thread that sleeps often does not wake the runtime's monitor by this. Each return
// from [SleepUntilStamped] may wake it, and the monitor then sleeps for 20 µs
// at a time for some milliseconds, and with sleeps of 4 ms that was a tenth of a core,
// where a timer's interrupt costs as much as on virtual machines. The thread needs a
// processor to keep: raise GOMAXPROCS by one.
func SleepUntilKeeping(t int64) (woke int64) {
	until := unix.NsecToTimespec(t)
	var now unix.Timespec
	if sleepKeeping(&until, &now) == unix.EINTR {
		safepoint(0)
	}
	return now.Nano()
}

// sleepKeeping sleeps and reads the clock before the runtime can take over: every
// call with a stack check, such as that of [Now], would let it.
//
//go:nosplit
//go:norace
func sleepKeeping(until, now *unix.Timespec) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(until)), 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(now)), 0, 0, 0, 0)
	return errno
}

// safepoint is a call with a stack check, where the runtime can take over if
// it has asked to, and nothing more. A frame is needed to have the check.
//
//go:noinline
func safepoint(i int) byte {
	var frame [256]byte
	return frame[i&255]
}

// SleepUntilBlocking sleeps until the absolute instant t (as [Now] counts) and
// gives the thread's processor (P) up meanwhile, as any blocking system call
// does. It returns at once if t has passed.
//
// Use it where the thread has no processor of its own, for every wait that is not the
// last stretch. The price: after the
// kernel has woken the thread it must get a processor back; with all of them
// busy it queues, and while the world is stopped it waits for that to end.
func SleepUntilBlocking(t int64) {
	ts := unix.NsecToTimespec(t)
	for {
		_, _, errno := syscall.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if errno != unix.EINTR {
			return
		}
	}
}

// SleepUntilHandingOver is [SleepUntilBlocking] that gives the processor to others
// at once, and not when the runtime's monitor comes by: what the calling goroutine
// has made runnable begins while it sleeps.
//
// A goroutine that is made runnable by a thread which then keeps its processor in
// [SleepUntil] begins some 60 µs later, when another thread has given up waiting
// for the processor to be free; after this one some 5 µs later.
func SleepUntilHandingOver(t int64) {
	ts := unix.NsecToTimespec(t)
	for sleepHandingOver(&ts) == unix.EINTR {
	}
}

// sleepHandingOver has no branch, like [sleepStamped] and for the same reason.
//
//go:nosplit
//go:norace
func sleepHandingOver(until *unix.Timespec) syscall.Errno {
	entersyscallblock()
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(until)), 0, 0, 0)
	exitsyscall()
	return errno
}

// SleepUntilPrecisely is [SleepUntilHandingOver] with the least timer slack, without which
// the kernel adds up to 50 µs. The thread has its default slack afterwards, so it is for
// goroutines that have none of their own.
func SleepUntilPrecisely(t int64) {
	ts := unix.NsecToTimespec(t)
	for sleepPrecisely(&ts) == unix.EINTR {
	}
}

// sleepPrecisely has no branch, like [sleepStamped] and for the same reason. Between the two
// scheduler calls the goroutine stays on its thread.
//
//go:nosplit
//go:norace
func sleepPrecisely(until *unix.Timespec) syscall.Errno {
	entersyscallblock()
	_, _, _ = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0, 0, 0, 0)
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(until)), 0, 0, 0)
	_, _, _ = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 0, 0, 0, 0, 0)
	exitsyscall()
	return errno
}

// CanWake: a [Sleeper] can be woken.
const CanWake = true

// Sleeper is a thread's sleep that others may end early. The zero value is ready. Woken
// and SleepUntilHandingOver belong to one goroutine; Wake may come from any.
type Sleeper struct{ state atomic.Uint32 }

const (
	awake  = 0
	asleep = 1
	woken  = 2
)

// Wake ends the sleep, or keeps the next from beginning.
func (s *Sleeper) Wake() {
	if s.state.Swap(woken) == asleep {
		const wakePrivate = 1 | 128 // FUTEX_WAKE | FUTEX_PRIVATE_FLAG
		_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.state)), wakePrivate, 1, 0, 0, 0)
	}
}

// Woken reports whether [Sleeper.Wake] was called since it last did.
func (s *Sleeper) Woken() bool {
	return s.state.Load() == woken && s.state.CompareAndSwap(woken, awake)
}

// SleepUntilHandingOver is the package's [SleepUntilHandingOver] that also returns when
// [Sleeper.Wake] has been called and [Sleeper.Woken] has not reported it, and
// when a signal comes.
func (s *Sleeper) SleepUntilHandingOver(t int64) {
	if !s.state.CompareAndSwap(awake, asleep) {
		return
	}
	ts := unix.NsecToTimespec(t)
	sleepOnHandingOver(&s.state, &ts)
	s.state.CompareAndSwap(asleep, awake)
}

// sleepOnHandingOver has no branch, like [sleepStamped] and for the same reason. It
// sleeps while state is asleep.
//
//go:nosplit
//go:norace
func sleepOnHandingOver(state *atomic.Uint32, until *unix.Timespec) {
	const waitUntilPrivate = 9 | 128 // FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG: until is an instant
	entersyscallblock()
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), waitUntilPrivate, asleep,
		uintptr(unsafe.Pointer(until)), 0, math.MaxUint32)
	exitsyscall()
}

// PollHandingOver waits until one of at most two descriptors has one of the events
// asked for, as poll(2) does, or until the instant t (as [Now] counts; 0: no end). It
// gives the processor to others at once, as [SleepUntilHandingOver] does, and it
// also returns when a signal comes.
func PollHandingOver(fds *[2]unix.PollFd, t int64) {
	if t == 0 {
		pollHandingOver(fds, nil)
		return
	}
	left := unix.NsecToTimespec(max(t-Now(), 0))
	pollHandingOver(fds, &left)
}

// pollHandingOver has no branch, like [sleepStamped] and for the same reason.
//
//go:nosplit
//go:norace
func pollHandingOver(fds *[2]unix.PollFd, left *unix.Timespec) {
	entersyscallblock()
	_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(fds)), 2, uintptr(unsafe.Pointer(left)), 0, 0, 0)
	exitsyscall()
}

// ReceiveHandingOver is recvmsg(2) on a socket that may have it wait. It gives the
// processor to others at once, as [SleepUntilHandingOver] does, also where there is something
// to receive.
//
//go:nosplit
//go:norace
func ReceiveHandingOver(fd uintptr, head *unix.Msghdr) (n uintptr, errno syscall.Errno) {
	entersyscallblock()
	n, _, errno = syscall.RawSyscall6(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(head)), 0, 0, 0, 0)
	exitsyscall()
	return n, errno
}

// SleepUntilStamped is [SleepUntilBlocking] that also returns when the kernel
// let the thread go on: a clock reading taken before the thread asks Go's
// scheduler for a processor. woke − t is what the operating system added;
// Now() − woke afterwards is what the runtime added. It separates the two
// where reading the clock after the call cannot.
func SleepUntilStamped(t int64) (woke int64) {
	until := unix.NsecToTimespec(t)
	var now unix.Timespec
	for {
		if errno := sleepStamped(&until, &now); errno != unix.EINTR {
			return now.Nano()
		}
	}
}

// sleepStamped sleeps and reads the clock as one system call for
// the scheduler. It must have no branch: between the two scheduler calls there
// is no processor, so nothing there may grow the stack, allocate, branch (a
// branch gets a coverage counter) or be watched by the race detector.
// RawSyscall6 rather than RawSyscall, because it is assembly underneath; the
// syscall package explains the same in Syscall.
//
//go:nosplit
//go:norace
func sleepStamped(until, now *unix.Timespec) syscall.Errno {
	entersyscall()
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(until)), 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(now)), 0, 0, 0, 0)
	exitsyscall()
	return errno
}

// The runtime exports these three for the syscall package and x/sys, and
// promises not to change them (runtime/proc.go, go.dev/issue/67401).

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// SetTimerSlack sets how late, in nanoseconds, the kernel may wake the calling
// thread in order to save wake-ups: 1 is the least, 0 restores the default
// (usually 50 µs). It acts on one thread: lock the goroutine to it first. The
// slack stays with the thread after it is unlocked. Threads of a real-time
// class have none whatever is set.
func SetTimerSlack(ns int) error {
	if ns < 0 {
		return fmt.Errorf("clock: timer slack of %d ns: must not be negative", ns)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0); err != nil {
		return fmt.Errorf("clock: set timer slack to %d ns: %w", ns, err)
	}
	return nil
}
