package window

import (
	"runtime"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
)

// Virtual is what a run in virtual time needs: in a testing/synctest bubble, where the clock
// goes on to the next instant for which something waits as soon as everything waits. Seconds
// of load take milliseconds there, and every wait ends at its instant.
//
// In such a run nothing sleeps in the kernel, spins or has a thread of its own, and neither the
// process nor the machine is watched: only waiting takes time there.
type Virtual interface {
	// Quiesce returns when every goroutine of the bubble waits, so that all work of this instant
	// is done. Of several callers at one instant those of a lower order go on first,
	// each when the one before waits again.
	Quiesce(order int)
}

// The orders in which goroutines go on that have come to the same instant.
const (
	OrderLoad    = iota // what sends and receives, where that gives something up
	OrderCollect        // what reads the counters
	OrderRun            // what ends the phases
)

// kernelSleepers bounds the goroutines of a run that wait in the kernel for the end of
// think time or of simulated work, each with a thread.
const kernelSleepers = 64

// Quiesce waits, in virtual time, until all other work of this instant is done. In real time it
// returns at once.
func (l *Life) Quiesce(order int) {
	if v := l.Virtual; v != nil {
		v.Quiesce(order)
	}
}

// TakeThread locks the calling goroutine to a thread, for good, and gives the thread the least timer
// slack and a short slice: without them wake-ups are later, which the lag shows. The thread ends with
// the goroutine, and its slice and timer slack with it.
func (l *Life) TakeThread() {
	if l.Virtual != nil {
		return
	}
	runtime.LockOSThread()
	_ = clock.SetTimerSlack(1)
	thread.ShortenSlice()
}

// TakeLowThread locks the calling goroutine to a thread of low priority, for good.
func (l *Life) TakeLowThread() {
	if l.Virtual != nil {
		return
	}
	runtime.LockOSThread()
	thread.Lower()
}

// SleepHandingOver is [clock.SleepUntilHandingOver] until t, CLOCK_MONOTONIC.
func (l *Life) SleepHandingOver(t int64) {
	if l.Virtual != nil {
		l.Precise.Until(t, nil)
		return
	}
	clock.SleepUntilHandingOver(t)
}

// CanWake reports whether the run's sleepers can be woken.
func (l *Life) CanWake() bool { return clock.CanWake || l.Virtual != nil }
