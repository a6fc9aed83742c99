package engine

import (
	"runtime"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
)

// Virtual is what a run in virtual time needs: in a testing/synctest bubble, where the clock
// goes on to the next instant for which something waits as soon as everything waits. Seconds
// of load take milliseconds there, and every wait ends at its instant.
//
// In such a run nothing sleeps in the kernel, spins or has a thread of its own, and neither the
// process nor the machine is watched: nothing takes time there but waiting.
type Virtual interface {
	// Quiesce returns when everything in the bubble waits, so that all is done that is done at
	// this instant. Of several callers at one instant those of a lower order go on first,
	// each when the one before waits again.
	Quiesce(order int)
}

// The orders in which goroutines go on that have come to the same instant.
const (
	orderLoad    = iota // what sends and receives, where that gives something up
	orderCollect        // what reads the counters
	orderRun            // what ends the phases
)

// kernelSleepers bounds the goroutines of a run that wait in the kernel for the end of
// think time or of simulated work, each with a thread.
const kernelSleepers = 64

// newPrecise returns what goroutines without a thread of their own wait by.
func newPrecise(c Config) *clock.Precise {
	if c.Virtual != nil {
		return clock.NewPrecise(0)
	}
	return clock.NewPrecise(kernelSleepers)
}

// watched reports whether the process and the machine are watched.
func (c *control) watched() bool { return c.config.Virtual == nil }

// quiesce has everything else done that is done at this instant, in virtual time. In real
// time there is no such moment.
func (c *control) quiesce(order int) {
	if v := c.config.Virtual; v != nil {
		v.Quiesce(order)
	}
}

// takeThread locks the calling goroutine to a thread, for good, and has that be woken at
// once: without it wake-ups are later, which the lag shows. The thread ends with the
// goroutine, and its slice and timer slack with it.
func (c *control) takeThread() {
	if c.config.Virtual != nil {
		return
	}
	runtime.LockOSThread()
	_ = clock.SetTimerSlack(1)
	thread.ShortenSlice()
}

// takeLowThread is takeThread for one that others go before.
func (c *control) takeLowThread() {
	if c.config.Virtual != nil {
		return
	}
	runtime.LockOSThread()
	thread.Lower()
}

// sleepHandingOver is [clock.SleepUntilHandingOver].
func (c *control) sleepHandingOver(t int64) {
	if c.config.Virtual != nil {
		c.precise.Until(t, nil)
		return
	}
	clock.SleepUntilHandingOver(t)
}

// sleeper is a [clock.Sleeper], which in virtual time is made of a channel. The zero value
// sleeps in the kernel.
type sleeper struct {
	kernel clock.Sleeper
	wake   chan struct{} // nil: by the kernel
	woken  atomic.Bool
}

// ready makes s one for the run, before it is used.
func (s *sleeper) ready(c *control) {
	if c.config.Virtual != nil {
		s.wake = make(chan struct{}, 1)
	}
}

// canWake reports whether the run's sleepers can be woken.
func (c *control) canWake() bool { return clock.CanWake || c.config.Virtual != nil }

// Wake is [clock.Sleeper.Wake].
func (s *sleeper) Wake() {
	if s.wake == nil {
		s.kernel.Wake()
		return
	}
	s.woken.Store(true)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Woken is [clock.Sleeper.Woken].
func (s *sleeper) Woken() bool {
	if s.wake == nil {
		return s.kernel.Woken()
	}
	return s.woken.Swap(false)
}

// sleepUntil is [clock.Sleeper.SleepUntilHandingOver]; by is what a sleep by a channel waits
// by.
func (s *sleeper) sleepUntil(t int64, by *clock.Precise) {
	if s.wake == nil {
		s.kernel.SleepUntilHandingOver(t)
		return
	}
	if !s.woken.Load() {
		by.Until(t, s.wake)
	}
}
