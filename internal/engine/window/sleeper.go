package window

import (
	"sync/atomic"

	"sixnines/internal/clock"
)

// Sleeper is a [clock.Sleeper], which in virtual time is made of a channel. The zero value
// sleeps in the kernel.
type Sleeper struct {
	kernel clock.Sleeper
	wake   chan struct{} // nil: by the kernel
	woken  atomic.Bool
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

// SleepUntil is [clock.Sleeper.SleepUntilHandingOver]; by is what a sleep by a channel waits
// by.
func (s *Sleeper) SleepUntil(t int64, by *clock.Precise) {
	if s.wake == nil {
		s.kernel.SleepUntilHandingOver(t)
		return
	}
	if !s.woken.Load() {
		by.Until(t, s.wake)
	}
}
