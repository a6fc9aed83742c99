// Package hold limits how long a driver holds back what it collects to write at
// once. The engine flushes what it sends; this is for whoever just stops sending.
package hold

import (
	"sync"
	"time"
)

// Most is half the longest time for which a batch is held that nobody flushes.
const Most = 5 * time.Millisecond

// Timer flushes a batch that nobody flushes. It runs on through any number of
// batches: one for each would have to be stopped and started for each. Its
// methods are called with the batch's lock held, allocate nothing once it has
// run, and wait for nothing.
type Timer struct {
	lock  sync.Locker
	flush func()
	timer *time.Timer // nil until first armed
	armed bool
	held  bool   // there is something in the batch
	turn  uint64 // how often the batch has been emptied
	then  uint64 // turn when the timer was armed
}

// NewTimer returns a timer for the batch that lock guards. It calls flush with
// lock held.
func NewTimer(lock sync.Locker, flush func()) Timer { return Timer{lock: lock, flush: flush} }

// Hold tells that there is something in the batch.
func (t *Timer) Hold() {
	t.held = true
	if !t.armed {
		t.arm()
	}
}

// Emptied tells that there is nothing in the batch any more.
func (t *Timer) Emptied() {
	t.held = false
	t.turn++
}

// Stop lets the timer flush nothing before Hold is called again.
func (t *Timer) Stop() {
	t.held = false
	if t.timer != nil && t.timer.Stop() {
		t.armed = false
	}
}

func (t *Timer) arm() {
	t.armed, t.then = true, t.turn
	if t.timer == nil {
		t.timer = time.AfterFunc(Most, t.elapsed)
		return
	}
	t.timer.Reset(Most)
}

// elapsed flushes a batch that has been there since the timer was armed, and
// gives a later one its time.
func (t *Timer) elapsed() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.armed = false
	switch {
	case !t.held:
	case t.turn != t.then:
		t.arm()
	default:
		t.flush()
	}
}
