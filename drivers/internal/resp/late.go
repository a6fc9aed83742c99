package resp

import (
	"errors"
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

// lateMost is for how long a reply may lie unread.
const lateMost = 10 * time.Millisecond

// readNow makes an io.Reader of what never waits.
type readNow struct{ lateReads }

func (r readNow) Read(p []byte) (int, error) { return r.ReadNow(p) }

// readLate has replies read late from the connection. Somebody else looks for them while
// the bit is set in unanswered. It is called before the first Send.
func (p *Pipeline) readLate(from lateReads, unanswered *atomic.Uint64, bit uint64) {
	p.late, p.unanswered, p.bit = from, unanswered, bit
	p.reader = NewReader(readNow{from}, func() { p.rest(p.replied) })
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

// look takes the replies that have come, unless somebody is just at it.
func (p *Pipeline) look() {
	if p.replies.TryLock() {
		p.takeAll()
		p.replies.Unlock()
	}
}

// takeAll takes the replies that have come. replies is held. A read that leaves room in
// its buffer is the last: there was no more, and to be told so costs a system call. What
// comes after it is found by the next look, or by serveLate.
func (p *Pipeline) takeAll() {
	if p.reader == nil {
		p.unanswered.And(^p.bit)
		return
	}
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
			p.unanswered.And(^p.bit)
			if p.replied != p.pending.count.Load() { // sent meanwhile
				p.unanswered.Or(p.bit)
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
	if p.unanswered.Load()&p.bit == 0 {
		p.unanswered.Or(p.bit)
	}
}
