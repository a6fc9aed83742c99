package rabbitmqstream

import (
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/handover"
	"sixnines/drivers/rabbitmqstream/wire"
)

// settleMost is how many messages are settled between two looks at the lock.
const settleMost = 64

// sent is a message that the broker has not answered yet.
type sent struct {
	token uint64
	done  bool
}

// pending holds the messages of one publisher on one connection, by publishing
// IDs. Messages are added by whoever sends, and settled by the goroutine that
// reads.
type pending struct {
	acks    driver.Acks
	sending handover.Mark // the message that Send reads

	mu      sync.Mutex
	ring    []sent // its length is a power of two
	first   uint64 // ID of the oldest message that is not settled
	next    uint64 // ID of the next message
	grouped bool   // entries hold several messages, of which the last one's ID stands for all
	ended   bool
}

func newPending(acks driver.Acks, next uint64, grouped bool) *pending {
	return &pending{acks: acks, ring: make([]sent, 256), first: next, next: next, grouped: grouped}
}

func (p *pending) at(id uint64) *sent { return &p.ring[id&uint64(len(p.ring)-1)] }

// add adds a message and returns its ID; false: the publisher has ended, and it
// was not added.
func (p *pending) add(token uint64) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, false
	}
	if p.next-p.first == uint64(len(p.ring)) {
		larger := make([]sent, 2*len(p.ring))
		for id := p.first; id < p.next; id++ {
			larger[id&uint64(len(larger)-1)] = *p.at(id)
		}
		p.ring = larger
	}
	id := p.next
	p.sending.Begin(id)
	*p.at(id) = sent{token: token}
	p.next++
	return id, true
}

// takeBack removes the message that was added last; false: it has been settled.
func (p *pending) takeBack() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.next == p.first || p.at(p.next-1).done {
		return false
	}
	p.next--
	return true
}

// settle settles messages with what the broker confirms, or refuses with err.
func (p *pending) settle(ids wire.IDs, err error) {
	var tokens [settleMost]uint64
	for i := 0; i < ids.Len(); {
		n := 0
		p.mu.Lock()
		for ; i < ids.Len() && n < settleMost; i++ {
			last := ids.At(i)
			first := last
			if p.grouped { // all before it in the entry, of which none is settled
				first = min(last, p.first)
			}
			id := max(first, p.first)
			for ; id <= last && id < p.next && n < settleMost; id++ {
				if m := p.at(id); !m.done {
					m.done = true
					tokens[n] = m.token
					n++
				}
			}
			for p.first < p.next && p.at(p.first).done {
				p.first++
			}
			if id <= last && id < p.next {
				break // the rest of the entry, in the next round
			}
		}
		p.mu.Unlock()
		for _, token := range tokens[:n] {
			p.acks.Done(token, err)
		}
	}
}

// end settles what is left: nobody is going to answer. A message that is just
// being sent is left to Send.
func (p *pending) end(why error) {
	err := fmt.Errorf("rabbitmq-stream: the publisher ended before the broker answered: %w: %w", driver.ErrTimeout, why)
	if classOf(why) == driver.ErrClosed {
		err = fmt.Errorf("rabbitmq-stream: the producer was closed before the broker answered: %w", driver.ErrClosed)
	}
	p.mu.Lock()
	p.ended = true
	var left []uint64
	for id := p.first; id < p.next; id++ {
		if m := p.at(id); !m.done && !p.sending.Leave(id, err) {
			left = append(left, m.token)
		}
	}
	p.first = p.next
	p.mu.Unlock()
	for _, token := range left {
		p.acks.Done(token, err)
	}
}
