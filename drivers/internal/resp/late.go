package resp

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"syscall"
	"time"
)

// Replies that are read late wake no thread: see [PipelineOptions.Late].

// lateReads is what the engine's connections can do: see transport.Conn.
type lateReads interface {
	ReadsLate() bool
	ReadNow(p []byte) (int, error)
	Rest(d time.Duration) error
}

// lateMost is how long a reply may stay unread. Each pipeline's goroutine wakes at this interval.
const lateMost = 50 * time.Millisecond

// lates are pipelines whose replies are read late.
type lates struct {
	unanswered atomic.Uint64 // a bit for each pipeline that waits for replies
	order      atomic.Uint64 // counts sends, see Pipeline.waits
	copies     atomic.Int64  // copies of each message, by the last reply; less than 2: one
	delivered  atomic.Int64  // copies delivered that do not yet make up a message
	pipelines  [64]atomic.Pointer[Pipeline]
}

// look reads the replies of the pipelines that have waited longest. n is the number of copies
// delivered since the last call; look tries at most as many pipelines as messages were
// delivered with all their copies, and stops at one without a reply yet. No reply is missed
// for good: senders and serveLate look, too.
func (l *lates) look(n int) {
	if copies := l.copies.Load(); copies > 1 && n > 0 {
		delivered := l.delivered.Add(int64(n))
		n = int(delivered / copies)
		l.delivered.Add(-int64(n) * copies)
	}
	for left := l.unanswered.Load(); left != 0 && n > 0; n-- {
		oldest, at := (*Pipeline)(nil), 0
		for w := left; w != 0; w &= w - 1 {
			i := bits.TrailingZeros64(w)
			if p := l.pipelines[i].Load(); p != nil && (oldest == nil || p.waits.Load() < oldest.waits.Load()) {
				oldest, at = p, i
			}
		}
		if oldest == nil || !oldest.look() {
			return
		}
		left &^= 1 << at
	}
}

// readNow is an io.Reader that never blocks.
type readNow struct {
	lateReads
	p *Pipeline
}

func (r readNow) Read(b []byte) (int, error) {
	r.p.reading.Store(true)
	n, err := r.ReadNow(b)
	r.p.reading.Store(false)
	return n, err
}

// skipsMost is how many looks skip a connection during one write. After that they read in
// spite of the write, so that a write that is stuck does not delay replies.
const skipsMost = 2

// busy reports whether a look should leave the connection to the sender.
func (p *Pipeline) busy() bool { return p.sending.Load() && p.skipped.Add(1) <= skipsMost }

// letRead waits for a read that has begun, for some microseconds at most. The kernel allows
// only one thread at a time on a socket and puts the other to sleep (lock_sock), which costs
// both more than the read takes. The caller has set sending.
func (p *Pipeline) letRead() {
	for range 2000 {
		if !p.reading.Load() {
			return
		}
	}
}

// readLate has replies read late from the connection. Somebody else looks for them while
// the bit with the number is set in of.unanswered. It is called before the first Send.
func (p *Pipeline) readLate(from lateReads, of *lates, number int) {
	p.late, p.of, p.bit = from, of, 1<<number
	p.reader = NewReader(readNow{from, p}, func() { p.rest(p.replied) })
	of.pipelines[number].Store(p)
}

// serveLate looks for replies now and then: others look sooner.
func (p *Pipeline) serveLate() error {
	for {
		p.replies.Lock()
		p.takeAll()
		err := p.failure
		p.replies.Unlock()
		if err == nil {
			err = p.late.Rest(lateMost)
		}
		if err != nil {
			return err
		}
	}
}

// look takes the replies that have come, unless somebody is just at it, and reports whether
// there were any. The sender need not look then; while he is writing it is left to him.
func (p *Pipeline) look() (found bool) {
	if p.busy() {
		return false
	}
	if p.replies.TryLock() {
		before := p.replied
		p.takeAll()
		found = p.replied > before
		p.replies.Unlock()
	}
	p.looked.Store(true)
	return found
}

// takeAll takes the replies that have come. replies is held. A read that leaves room in
// its buffer is the last: there was no more, and to be told so costs a system call. What
// comes after it is found by the next look, or by serveLate.
func (p *Pipeline) takeAll() {
	if p.reader == nil {
		p.of.unanswered.And(^p.bit)
		return
	}
	p.waits.Store(p.of.order.Add(1)) // what this leaves is of late
	for p.failure == nil {
		switch err := p.take(); {
		case err == nil && !p.reader.emptied():
			continue
		case err == nil:
			p.rest(p.replied)
		case !errors.Is(err, syscall.EAGAIN):
			p.failure = err
			return
		}
		if p.replied == p.pending.count.Load() {
			p.of.unanswered.And(^p.bit)
			if p.replied != p.pending.count.Load() { // sent meanwhile
				p.of.unanswered.Or(p.bit)
			}
		}
		return
	}
}

// await sees to it that somebody takes the reply to what has just been sent. Earlier
// ones are taken here, unless somebody else has looked since the last call: who looks
// between two sends will look again.
func (p *Pipeline) await() {
	if p.pending.count.Load()-p.answered.Load() > 1 && !p.looked.Swap(false) {
		p.look()
	}
	if p.of.unanswered.Load()&p.bit == 0 {
		p.waits.Store(p.of.order.Add(1))
		p.of.unanswered.Or(p.bit)
	}
}
