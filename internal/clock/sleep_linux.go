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

// SleepUntilKeeping is [SleepUntil] that also returns woke, the instant at which the kernel
// resumed the thread: a clock reading taken before anything else. It sleeps once: woke is
// before t if a signal ended the sleep early. If the runtime sent that signal to stop the
// goroutine, the goroutine has been stopped and resumed before the call returns. woke − t is
// the operating system's delay; the runtime adds none, because the thread keeps its processor.
//
// Unlike [SleepUntilStamped], it does not wake the runtime's monitor thread. Each return of
// SleepUntilStamped may wake the monitor, which then sleeps in steps of 20 µs for some
// milliseconds. With sleeps of 4 ms that took a tenth of a core on virtual machines, where
// timer interrupts are expensive. The thread needs a processor to keep: raise GOMAXPROCS by
// one.
func SleepUntilKeeping(t int64) (woke int64) {
	until := unix.NsecToTimespec(t)
	var now unix.Timespec
	if sleepKeeping(&until, &now) == unix.EINTR {
		safepoint(0)
	}
	return now.Nano()
}

// sleepKeeping sleeps and reads the clock before the runtime can preempt the goroutine, which
// it can at every call with a stack check, such as a call of [Now].
//
//go:nosplit
//go:norace
func sleepKeeping(until, now *unix.Timespec) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(until)), 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(now)), 0, 0, 0, 0)
	return errno
}

// safepoint only runs a stack check, at which the runtime preempts the goroutine if it has
// asked to. The compiler emits the check only for a function with a frame.
//
//go:noinline
func safepoint(i int) byte {
	var frame [256]byte
	return frame[i&255]
}

// SleepUntilBlocking sleeps until the absolute instant t (as [Now] counts) and releases the
// thread's processor (P) meanwhile, as any blocking system call does. It returns at once if t
// has passed.
//
// Use it for every wait but the last stretch if the thread has no processor of its own. The
// price: after the kernel has woken the thread, it must get a processor back. It queues while
// all are busy, and waits while the world is stopped.
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

// SleepUntilHandingOver is [SleepUntilBlocking] that releases the processor at once instead of
// waiting for the runtime's monitor to take it. Goroutines that the caller has made runnable
// run while it sleeps.
//
// Such a goroutine starts some 5 µs later. If the thread kept its processor in [SleepUntil]
// instead, the goroutine would start some 60 µs later, when another thread gives up waiting
// for that processor.
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

// SleepUntilPrecisely is [SleepUntilHandingOver] with the least timer slack; with the default
// slack the kernel adds up to 50 µs. It restores the thread's default slack afterwards, so
// threads that have called [SetTimerSlack] must not use it.
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

// CanWake reports whether a [Sleeper] can be woken on this system.
const CanWake = true

// Sleeper is a sleep that other goroutines may end early. The zero value is ready to use. Only
// one goroutine may call Woken and SleepUntilHandingOver; any may call Wake.
//
// No wake-up is lost. The sleeper moves state from awake to asleep and then calls
// FUTEX_WAIT, which returns at once unless state is still asleep. Wake stores woken first and
// calls FUTEX_WAKE only if it replaced asleep. Only the sleeper clears woken, in Woken.
type Sleeper struct{ state atomic.Uint32 }

const (
	awake  = 0
	asleep = 1
	woken  = 2
)

// Wake ends the current sleep. Without one, the next sleep returns at once. It does not block.
func (s *Sleeper) Wake() {
	if s.state.Swap(woken) == asleep {
		const wakePrivate = 1 | 128 // FUTEX_WAKE | FUTEX_PRIVATE_FLAG
		_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.state)), wakePrivate, 1, 0, 0, 0)
	}
}

// Woken reports whether [Sleeper.Wake] was called since Woken last returned true.
func (s *Sleeper) Woken() bool {
	return s.state.Load() == woken && s.state.CompareAndSwap(woken, awake)
}

// SleepUntilHandingOver is the package's [SleepUntilHandingOver] that also returns on a signal,
// and on a call of [Sleeper.Wake] that [Sleeper.Woken] has not reported yet.
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

// PollHandingOver waits until one of two descriptors has a requested event, as poll(2) does, or
// until the instant t (as [Now] counts; 0: no limit). A negative descriptor is ignored. It
// releases the processor at once, as [SleepUntilHandingOver] does, and also returns on a signal.
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

// ReceiveHandingOver is recvmsg(2) on a socket that may block. It releases the processor at
// once, as [SleepUntilHandingOver] does, even if data is ready.
//
//go:nosplit
//go:norace
func ReceiveHandingOver(fd uintptr, head *unix.Msghdr) (n uintptr, errno syscall.Errno) {
	entersyscallblock()
	n, _, errno = syscall.RawSyscall6(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(head)), 0, 0, 0, 0)
	exitsyscall()
	return n, errno
}

// SleepUntilStamped is [SleepUntilBlocking] that also returns woke, the instant at which the
// kernel resumed the thread: a clock reading taken before the thread asks Go's scheduler for a
// processor. woke − t is the operating system's delay, Now() − woke after the call the
// runtime's. Reading the clock only after the call cannot separate the two.
func SleepUntilStamped(t int64) (woke int64) {
	until := unix.NsecToTimespec(t)
	var now unix.Timespec
	for {
		if errno := sleepStamped(&until, &now); errno != unix.EINTR {
			return now.Nano()
		}
	}
}

// sleepStamped sleeps and reads the clock within one entersyscall/exitsyscall pair. It must
// have no branch: between the two calls the thread has no processor, so the code there must
// not grow the stack, allocate, branch (a branch gets a coverage counter) or be instrumented by
// the race detector.
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
// slack stays with the thread after the goroutine is unlocked. Threads of a
// real-time class have no slack, whatever is set. A negative ns is an error.
func SetTimerSlack(ns int) error {
	if ns < 0 {
		return fmt.Errorf("clock: timer slack of %d ns: must not be negative", ns)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0); err != nil {
		return fmt.Errorf("clock: set timer slack to %d ns: %w", ns, err)
	}
	return nil
}
