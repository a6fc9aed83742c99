package window

import (
	"sync/atomic"

	"sixnines/internal/clock"
)

// Sleeper is a [clock.Sleeper], which in virtual time is made of a channel. The zero value
// sleeps in the kernel. One goroutine sleeps and calls Woken; any may call Wake.
type Sleeper struct {
	kernel clock.Sleeper
	wake   chan struct{} // ends a sleep; its capacity is 1. nil: the kernel does
	woken  atomic.Bool   // Wake was called since Woken last; it is stored before wake gets its value
}

// Ready makes s one for the run, before it is used.
func (s *Sleeper) Ready(l *Life) {
	if l.Virtual != nil {
		s.wake = make(chan struct{}, 1)
	}
}

// Wake is [clock.Sleeper.Wake].
func (s *Sleeper) Wake() {
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
func (s *Sleeper) Woken() bool {
	if s.wake == nil {
		return s.kernel.Woken()
	}
	return s.woken.Swap(false)
}

// SleepUntil is [clock.Sleeper.SleepUntilHandingOver] until t, CLOCK_MONOTONIC. In virtual time by does
// the waiting.
func (s *Sleeper) SleepUntil(t int64, by *clock.Precise) {
	if s.wake == nil {
		s.kernel.SleepUntilHandingOver(t)
		return
	}
	if !s.woken.Load() {
		by.Until(t, s.wake)
	}
}
