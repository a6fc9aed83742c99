package rabbitmq

import (
	"bytes"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// sent is a message that the broker has not answered yet.
type sent struct {
	producer *producer
	token    uint64
	payload  []byte // to recognise it by if it comes back
	returned bool
	done     bool
}

// settleMost is how many messages are settled between two looks at the lock.
const settleMost = 64

// pending holds the messages of one channel, by delivery tags: the broker counts
// from 1, and so do we. Messages are added by whoever sends, one at a time, and
// settled by the goroutine that reads.
type pending struct {
	sending kit.Mark // the message that Send reads

	mu    sync.Mutex
	open  rabbit.Window[sent] // the first of which is not settled
	given uint64              // tag up to which messages that came back have been looked for
	ended bool
}

func newPending() *pending { return &pending{open: rabbit.NewWindow[sent](1)} }

// add adds a message and returns its tag; false: the channel has ended, and it
// was not added.
func (p *pending) add(m sent) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, false
	}
	tag := p.open.Push(m)
	p.sending.Begin(tag)
	return tag, true
}

// takeBack removes the message that was added last; false: it has been settled.
func (p *pending) takeBack() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.open.Next == p.open.First || p.open.At(p.open.Next-1).done {
		return false
	}
	p.open.Pop()
	return true
}

// settle settles the message with the tag or, if multiple, all up to it; tag 0
// stands for all, as it does for the broker.
func (p *pending) settle(tag uint64, multiple, ok bool) {
	if !multiple {
		p.mu.Lock()
		m, found := p.take(tag)
		p.mu.Unlock()
		if found {
			m.resolve(ok)
		}
		return
	}
	var settled [settleMost]sent
	for more := true; more; {
		n := 0
		p.mu.Lock()
		last := tag
		if last == 0 || last >= p.open.Next {
			last = p.open.Next - 1
		}
		for p.open.First <= last && n < settleMost {
			if m, found := p.take(p.open.First); found {
				settled[n] = m
				n++
			}
		}
		more = p.open.First <= last
		p.mu.Unlock()
		for i := range n {
			settled[i].resolve(ok)
		}
	}
}

// take removes a message. mu is held.
func (p *pending) take(tag uint64) (m sent, found bool) {
	if tag < p.open.First || tag >= p.open.Next {
		return m, false
	}
	at := p.open.At(tag)
	if at.done {
		return m, false
	}
	m = *at
	*at = sent{done: true}
	for p.open.First < p.open.Next && p.open.At(p.open.First).done {
		*p.open.At(p.open.First) = sent{}
		p.open.First++
	}
	return m, true
}

// giveBack finds the message with the body, which led nowhere. Messages come
// back in the order in which they were sent.
func (p *pending) giveBack(body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for tag := max(p.given+1, p.open.First); tag < p.open.Next; tag++ {
		if at := p.open.At(tag); !at.done && !at.returned && bytes.Equal(at.payload, body) {
			at.returned = true
			p.given = tag
			return
		}
	}
}

// end settles what is left: nobody is going to answer. A message that is just
// being sent is left to Send.
func (p *pending) end(why error) {
	p.mu.Lock()
	p.ended = true
	err := p.unanswered(why)
	var left []sent
	for tag := p.open.First; tag < p.open.Next; tag++ {
		if m := p.open.At(tag); !m.done && !p.sending.Leave(tag, err) {
			left = append(left, *m)
		}
	}
	p.open.First = p.open.Next
	p.mu.Unlock()
	for _, m := range left {
		m.producer.acks.Done(m.token, err)
	}
}

// unanswered is what becomes of the messages that a channel leaves behind. mu is
// held.
func (p *pending) unanswered(why error) error {
	class := protocol().ClassOf(why)
	switch {
	case class == driver.ErrClosed:
		return fmt.Errorf("rabbitmq: the producer was closed before the broker answered: %w", driver.ErrClosed)
	case p.open.Next-p.open.First == 1 && class != driver.ErrNotConnected:
		// With no other in question the broker means this one.
		return fmt.Errorf("rabbitmq: send: %w: %w", class, why)
	}
	return fmt.Errorf("rabbitmq: the channel ended before the broker answered: %w: %w", driver.ErrTimeout, why)
}

// resolve tells of the broker's answer.
func (m *sent) resolve(ok bool) {
	switch {
	case m.returned:
		m.producer.acks.Done(m.token, m.producer.unroutable)
	case !ok:
		m.producer.acks.Done(m.token, m.producer.refused)
	default:
		m.producer.acks.Done(m.token, nil)
	}
}
