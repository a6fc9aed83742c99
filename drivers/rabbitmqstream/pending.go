package rabbitmqstream

import (
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
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
	sending kit.Mark // the message that Send reads

	mu      sync.Mutex
	open    rabbit.Window[sent] // the first of which is not settled
	grouped bool                // entries hold several messages, of which the last one's ID stands for all
	ended   bool
}

func newPending(acks driver.Acks, next uint64, grouped bool) *pending {
	return &pending{acks: acks, open: rabbit.NewWindow[sent](next), grouped: grouped}
}

// add adds a message and returns its ID; false: the publisher has ended, and it
// was not added.
func (p *pending) add(token uint64) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, false
	}
	id := p.open.Push(sent{token: token})
	p.sending.Begin(id)
	return id, true
}

// takeBack removes a message that was not sent; false: it has been settled. Nothing
// else gets its ID: the client library tells of it nevertheless.
func (p *pending) takeBack(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || id < p.open.First || p.open.At(id).done {
		return false
	}
	p.open.At(id).done = true
	p.advance()
	return true
}

// advance goes on to the first message that is not settled. mu is held.
func (p *pending) advance() {
	for p.open.First < p.open.Next && p.open.At(p.open.First).done {
		p.open.First++
	}
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
				first = min(last, p.open.First)
			}
			id := max(first, p.open.First)
			for ; id <= last && id < p.open.Next && n < settleMost; id++ {
				if m := p.open.At(id); !m.done {
					m.done = true
					tokens[n] = m.token
					n++
				}
			}
			p.advance()
			if id <= last && id < p.open.Next {
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
	if protocol().ClassOf(why) == driver.ErrClosed {
		err = fmt.Errorf("rabbitmq-stream: the producer was closed before the broker answered: %w", driver.ErrClosed)
	}
	p.mu.Lock()
	p.ended = true
	var left []uint64
	for id := p.open.First; id < p.open.Next; id++ {
		if m := p.open.At(id); !m.done && !p.sending.Leave(id, err) {
			left = append(left, m.token)
		}
	}
	p.open.First = p.open.Next
	p.mu.Unlock()
	for _, token := range left {
		p.acks.Done(token, err)
	}
}
