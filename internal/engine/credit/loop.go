package credit

import "sixnines/internal/engine/stream"

// Loop is what one producer of a closed loop waits for: its own messages, each until it is
// answered or has lasted for the time limit. It belongs to the producer's goroutine; answers
// come by the channel.
type Loop struct {
	Ready   chan stream.Completion // the answers, from the client's goroutines
	waiting []outstanding          // in the order of sending
}

// outstanding is a message that a closed loop waits for.
type outstanding struct {
	st       *stream.Stream
	credits  *Credits // of its connection
	seq      uint64
	sent     int64 // CLOCK_MONOTONIC
	measured bool  // it belongs to the window
}

// Await adds a message of st that is about to be sent at an instant, over the connection with
// these credits.
func (l *Loop) Await(st *stream.Stream, c *Credits, seq uint64, sent int64, measured bool) {
	l.waiting = append(l.waiting, outstanding{st, c, seq, sent, measured})
}

// Answered takes an answer, and reports whether it was waited for.
func (l *Loop) Answered(a stream.Completion) bool {
	for i, o := range l.waiting {
		if o.st == a.St && o.seq == a.Seq {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// Expire gives up the messages that were sent more than timeout ns before now, and returns how many
// they were. An answer that comes later is not waited for: see [stream.Waiter.Lapsed].
func (l *Loop) Expire(now, timeout int64) (n int) {
	kept := l.waiting[:0]
	for _, o := range l.waiting {
		if now-o.sent <= timeout {
			kept = append(kept, o)
			continue
		}
		o.st.Waiter.Lapsed.Store(o.seq + 1) // the stream's messages before it were answered, or have timed out
		if o.measured {
			o.credits.TimedOut.Add(1)
		}
		n++
	}
	l.waiting = kept
	return n
}
