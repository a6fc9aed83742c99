package clock

import (
	"sync/atomic"
	"time"
)

// timerLate is how late Go's timers come at the most where nothing else is busy: they
// count in milliseconds.
const timerLate = 1_500_000 // ns

// Precise waits for instants on behalf of goroutines that have no thread of their own. Go's
// timers come up to a millisecond late, so the last stretch before an instant is slept in the
// kernel, as far as there are threads for it. Its method is safe for concurrent use.
type Precise struct {
	threads int64
	asleep  atomic.Int64
}

// NewPrecise returns one that lets at most that many goroutines sleep in the kernel at the same
// time, each with a thread; others wait by Go's timers alone. With none all do, as they must
// in a testing/synctest bubble, where timers are exact.
func NewPrecise(threads int) *Precise { return &Precise{threads: int64(threads)} }

// Until waits until the instant t (as [Now] counts) and returns true, or returns false as
// soon as something can be received from quit, which may be nil. In the last stretch,
// of up to 1.5 ms, it does not look at quit.
func (p *Precise) Until(t int64, quit <-chan struct{}) bool {
	if p.threads > 0 {
		if !rest(t-timerLate-Now(), quit) {
			return false
		}
		if p.asleep.Add(1) <= p.threads {
			SleepUntilPrecisely(t)
		}
		p.asleep.Add(-1)
	}
	return rest(t-Now(), quit)
}

// rest waits for d ns by Go's timers; false if quit ends it.
func rest(d int64, quit <-chan struct{}) bool {
	switch {
	case d <= 0:
		return true
	case quit == nil:
		time.Sleep(time.Duration(d))
		return true
	}
	timer := time.NewTimer(time.Duration(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-quit:
		return false
	}
}
