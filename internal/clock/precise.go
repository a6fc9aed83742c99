package clock

import (
	"sync/atomic"
	"time"
)

// timerLate is how late Go's timers fire at most on an idle machine: they have millisecond
// resolution.
const timerLate = 1_500_000 // ns

// Precise waits for instants on behalf of goroutines that have no thread of their own. Go's
// timers come up to a millisecond late, so the last stretch before an instant is slept in the
// kernel, if a thread is free for it. Until is safe for concurrent use.
type Precise struct {
	threads int64        // limit of asleep; never changes
	asleep  atomic.Int64 // goroutines in the last stretch, those over the limit included
}

// NewPrecise returns a Precise that lets at most threads goroutines sleep in the kernel at the
// same time, each on a thread of its own; the others use Go's timers alone. With threads = 0 all
// goroutines use timers. A testing/synctest bubble requires that; its timers are exact.
func NewPrecise(threads int) *Precise { return &Precise{threads: int64(threads)} }

// Until waits until the instant t (as [Now] counts) and returns true, or returns false as
// soon as something can be received from quit, which may be nil. It does not check quit in
// the last stretch of up to 1.5 ms.
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

// rest waits for d ns by Go's timers. It returns false if quit ends the wait.
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
