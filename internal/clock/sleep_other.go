//go:build !linux

package clock

import (
	"errors"
	"time"
)

// SleepUntil sleeps until the instant t (as [Now] counts). Here it is
// time.Sleep, with the precision of Go's timers.
func SleepUntil(t int64) { time.Sleep(time.Duration(t - Now())) }

// SleepUntilBlocking is [SleepUntil] here.
func SleepUntilBlocking(t int64) { SleepUntil(t) }

// SleepUntilHandingOver is [SleepUntil] here.
func SleepUntilHandingOver(t int64) { SleepUntil(t) }

// SleepUntilPrecisely is [SleepUntil] here.
func SleepUntilPrecisely(t int64) { SleepUntil(t) }

// CanWake reports whether a [Sleeper] can be woken on this system.
const CanWake = false

// Sleeper sleeps for its whole time here.
type Sleeper struct{}

// Wake does nothing here.
func (*Sleeper) Wake() {}

// Woken returns false here.
func (*Sleeper) Woken() bool { return false }

// SleepUntilHandingOver is [SleepUntil] here.
func (*Sleeper) SleepUntilHandingOver(t int64) { SleepUntil(t) }

// SleepUntilStamped is [SleepUntil] here, and returns the time after it: the
// operating system's and the runtime's share of the delay cannot be separated.
func SleepUntilStamped(t int64) (woke int64) {
	SleepUntil(t)
	return Now()
}

// SleepUntilKeeping is [SleepUntilStamped] here.
func SleepUntilKeeping(t int64) (woke int64) { return SleepUntilStamped(t) }

// SetTimerSlack is not available here and returns an error that wraps
// errors.ErrUnsupported.
func SetTimerSlack(int) error {
	return errors.Join(errors.New("clock: timer slack: not available here"), errors.ErrUnsupported)
}
