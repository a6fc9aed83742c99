package stream

import "sync/atomic"

// Completion tells a closed loop that a message was answered.
type Completion struct {
	Seq uint64  // number of the message in St
	At  int64   // when it was, CLOCK_MONOTONIC
	St  *Stream // of the message
}

// Waiter is what the completions of one stream go to.
type Waiter struct {
	St    *Stream         // the stream itself
	Ready chan Completion // shared by the streams of a producer, whose loop receives; never closed
	// Lapsed is one more than the highest sequence number that timed out: the loop waits neither for
	// that message nor for any before it. The loop stores, Complete reads.
	Lapsed atomic.Uint64
}

// Complete is called once per message from any goroutine, and reports whether the loop
// still waited for it. The channel holds twice what may be outstanding, and so all that
// the loop can be waiting for.
func (w *Waiter) Complete(seq uint64, at int64) bool {
	if seq < w.Lapsed.Load() {
		return false
	}
	select {
	case w.Ready <- Completion{seq, at, w.St}:
	default:
	}
	return true
}
