package jetstream

import (
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// What becomes of messages whose acknowledgement does not come.
var (
	errLost       = fmt.Errorf("%s: the connection was lost before the acknowledgement came: %w", product, driver.ErrTimeout)
	errLate       = fmt.Errorf("%s: no acknowledgement in time: %w", product, driver.ErrTimeout)
	errUnanswered = fmt.Errorf("%s: the acknowledgement had not come: %w", product, driver.ErrClosed)
)

// pending holds the messages of a producer that wait for their acknowledgement.
// Each has a tag, which comes back in the subject of the server's answer: its
// place and the number of times that the place has been taken, so that an answer
// that comes too late finds nothing.
//
// It is safe for concurrent use. Done is called without its lock.
type pending struct {
	acks  driver.Acks
	limit int // how many may wait; 0: any number
	// sending is the message that Send reads: its place is taken before.
	sending kit.Mark

	mu     sync.Mutex
	room   *sync.Cond // there may be room
	places []place
	free   []uint32 // places that are not taken
	steps  uint32   // how often step was called
	closed bool
}

// place is one of a message. Its turn is even while it is free.
type place struct {
	token uint64
	turn  uint32
	since uint32 // pending.steps when it was taken
}

const (
	placeBits = 24
	placeMask = 1<<placeBits - 1
)

func newPending(acks driver.Acks, limit int) *pending {
	p := &pending{acks: acks, limit: limit}
	p.room = sync.NewCond(&p.mu)
	return p
}

// waiting returns how many messages wait. mu is held.
func (p *pending) waiting() int { return len(p.places) - len(p.free) }

// full reports whether add would block.
func (p *pending) full() bool {
	if p.limit == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting() >= p.limit
}

// add takes a place for the message with token and returns its tag. It blocks
// while the limit is reached.
func (p *pending) add(token uint64) (tag uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.limit > 0 && p.waiting() >= p.limit && !p.closed {
		p.room.Wait()
	}
	if p.closed {
		return 0, driver.ErrClosed
	}
	if len(p.free) == 0 {
		if len(p.places) > placeMask {
			return 0, fmt.Errorf("%d messages wait for their acknowledgement: %w", len(p.places), driver.ErrThrottled)
		}
		p.places = append(p.places, place{})
		p.free = append(p.free, uint32(len(p.places)-1))
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	at := &p.places[i]
	at.token, at.since = token, p.steps
	at.turn++
	tag = tagOf(i, at.turn)
	p.sending.Begin(tag)
	return tag, nil
}

func tagOf(place, turn uint32) uint64 { return uint64(turn)<<placeBits | uint64(place) }

// take returns the token of the message with the tag and frees its place; false
// if it does not wait any more.
func (p *pending) take(tag uint64) (token uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := tag & placeMask
	if i >= uint64(len(p.places)) {
		return 0, false
	}
	at := &p.places[i]
	if at.turn&1 == 0 || uint64(at.turn) != tag>>placeBits {
		return 0, false
	}
	p.release(uint32(i))
	return at.token, true
}

// release frees a place. mu is held.
func (p *pending) release(i uint32) {
	p.places[i].turn++
	p.free = append(p.free, i)
	if p.limit > 0 {
		p.room.Signal()
	}
}

// done resolves the message with the tag, if it still waits.
func (p *pending) done(tag uint64, err error) {
	if token, ok := p.take(tag); ok {
		p.acks.Done(token, err)
	}
}

// fail resolves all messages that wait, of those that were there so many steps
// ago or all. One that is just being sent is left to Send.
func (p *pending) fail(err error, steps uint32) {
	p.mu.Lock()
	var tokens []uint64
	if p.waiting() > 0 {
		for i := range p.places {
			if at := &p.places[i]; at.turn&1 == 1 && p.steps-at.since >= steps {
				if !p.sending.Leave(tagOf(uint32(i), at.turn), err) {
					tokens = append(tokens, at.token)
				}
				p.release(uint32(i))
			}
		}
	}
	p.mu.Unlock()
	for _, token := range tokens {
		p.acks.Done(token, err)
	}
}

// close resolves all messages and lets no others in.
func (p *pending) close() {
	p.mu.Lock()
	p.closed = true
	p.room.Broadcast()
	p.mu.Unlock()
	p.fail(errUnanswered, 0)
}

// step counts a step and gives up what has waited for more than so many.
func (p *pending) step(most uint32) {
	p.mu.Lock()
	p.steps++
	p.mu.Unlock()
	p.fail(errLate, most+1)
}
