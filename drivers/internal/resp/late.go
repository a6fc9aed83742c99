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

// serveLate looks for replies now and then: others look sooner.
func (p *Pipeline) serveLate(from lateReads) error {
	p.replies.Lock()
	p.reader, p.failure = p.newReader(readNow{from}), nil
	p.replies.Unlock()
	for {
		p.replies.Lock()
		p.takeAll()
		err := p.failure
		p.replies.Unlock()
		if err == nil {
			err = from.Rest(lateMost)
		}
		if err != nil {
			// Nobody follows the time stamps of the connection's successor.
			p.late.Store(false)
			p.replies.Lock()
			p.reader = nil
			if p.unanswered != nil {
				p.unanswered.And(^p.bit)
			}
			p.replies.Unlock()
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
		return
	}
	for p.failure == nil {
		switch err := p.take(p.reader); {
		case err == nil && !p.reader.emptied():
			continue
		case err == nil:
			p.rest(p.replied)
		case !errors.Is(err, syscall.EAGAIN):
			p.failure = err
			return
		}
		if p.unanswered != nil && p.replied == p.pending.count.Load() {
			p.unanswered.And(^p.bit)
			if p.replied != p.pending.count.Load() { // sent meanwhile
				p.unanswered.Or(p.bit)
			}
		}
		return
	}
}

// mark has somebody look for replies while bit is set. It is called before the first
// Send.
func (p *Pipeline) mark(unanswered *atomic.Uint64, bit uint64) {
	p.replies.Lock()
	p.unanswered, p.bit = unanswered, bit
	p.replies.Unlock()
}

// await sees to it that somebody takes the reply to what has just been sent. Earlier
// ones are taken here, unless somebody else has looked since the last call: who looks
// between two sends will look again.
func (p *Pipeline) await() {
	if p.unanswered == nil || p.pending.count.Load()-p.answered.Load() > 1 && !p.looked.Swap(false) {
		p.look()
	}
	if p.unanswered != nil && p.unanswered.Load()&p.bit == 0 {
		p.unanswered.Or(p.bit)
	}
}
