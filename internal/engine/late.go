package engine

import (
	"fmt"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/spell"
	"sixnines/result"
)

// hasLate reports whether any load has consumers that come late.
func (r *run) hasLate() bool {
	return slices.ContainsFunc(r.loads, func(ld *load) bool { return len(ld.receiving.Late.Consumers) > 0 })
}

// stallLimit is how long a run waits for late consumers that get nothing:
// longer than what a broker takes to give a lost consumer's messages to another one
// (NSQ's msg_timeout is 60 s, Kafka's session.timeout.ms 45 s, JetStream's ack_wait
// 30 s): nsqd kept those of a connection that was cut for the whole minute.
const stallLimit = 90 * time.Second

// stalled reports whether all loads that are unresolved have late consumers that have received nothing
// for stallLimit: the missing messages are not on their way. It then writes an event. It belongs to the
// run's goroutine.
func (r *run) stalled() bool {
	waits := false
	for _, ld := range r.loads {
		if ld.accounts.Resolved() {
			continue
		}
		if !ld.stalled() {
			return false
		}
		waits = true
	}
	if !waits { // the last message came just now
		return false
	}
	r.out.Event(result.Event{At: clock.Now(), Kind: result.EventDrain, Detail: fmt.Sprintf("nothing was delivered for %s: the run no longer waits for missing messages", spell.Period(stallLimit))})
	return true
}

// stalled reports whether the load's consumers come late and have received nothing for stallLimit since
// they began to connect.
func (ld *load) stalled() bool {
	l := &ld.receiving.Late
	if len(l.Consumers) == 0 {
		return false
	}
	c := ld.accounts.Counts()
	if n := c.Received + c.Duplicated + c.Corrupted + c.Late + c.Earlier + c.EarlierDuplicated; n != l.Received || l.At == 0 || !l.Began.Load() {
		l.Received, l.At = n, clock.Now()
	}
	return clock.Now()-l.At > int64(stallLimit)
}
