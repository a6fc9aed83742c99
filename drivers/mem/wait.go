package mem

import "time"

// wait waits until an instant and returns true, or returns false soon after quit is
// closed: see [driver.Target.Wait].
type wait func(until time.Time, quit <-chan struct{}) bool

// waitByTimer waits with the precision of Go's timers: up to a millisecond too long, or
// exactly in a testing/synctest bubble.
func waitByTimer(until time.Time, quit <-chan struct{}) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-quit:
		return false
	}
}
