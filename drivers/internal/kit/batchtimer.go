package kit

import (
	"sync"
	"time"
)

// batchMost is half the longest time that a batch waits for the timer.
const batchMost = 5 * time.Millisecond

// BatchTimer flushes a batch that no sender flushes: the engine flushes what it sends, so
// the timer is for a sender that stops. It keeps running over any number of batches: a timer
// for each batch would have to be stopped and started each time. Its methods are called
// with the batch's lock held. They do not allocate after the first run, and never block.
type BatchTimer struct {
	lock  sync.Locker
	flush func()
	timer *time.Timer // nil until first armed
	armed bool
	held  bool   // the batch is not empty
	turn  uint64 // how often the batch has been emptied
	then  uint64 // turn when the timer was armed
}

// NewBatchTimer returns a timer for the batch that lock guards. It calls flush with
// lock held.
func NewBatchTimer(lock sync.Locker, flush func()) BatchTimer {
	return BatchTimer{lock: lock, flush: flush}
}

// Hold says that the batch is not empty.
func (t *BatchTimer) Hold() {
	t.held = true
	if !t.armed {
		t.arm()
	}
}

// Emptied says that the batch is empty again.
func (t *BatchTimer) Emptied() {
	t.held = false
	t.turn++
}

// Stop lets the timer flush nothing before Hold is called again.
func (t *BatchTimer) Stop() {
	t.held = false
	if t.timer != nil && t.timer.Stop() {
		t.armed = false
	}
}

func (t *BatchTimer) arm() {
	t.armed, t.then = true, t.turn
	if t.timer == nil {
		t.timer = time.AfterFunc(batchMost, t.elapsed)
		return
	}
	t.timer.Reset(batchMost)
}

// elapsed flushes a batch that has been there since the timer was armed, and
// gives a later one its time.
func (t *BatchTimer) elapsed() {
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
