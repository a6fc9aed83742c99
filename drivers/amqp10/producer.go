package amqp10

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// producer implements driver.Producer, driver.Syncer and kit.Member.
type producer struct {
	session    *session
	link       *link
	key        kit.Key
	address    string
	properties map[string]any // of every message; nil: none
	acks       driver.Acks
	closed     atomic.Bool
	now        atomic.Pointer[sender]
}

// sender is a producer on one connection.
type sender struct {
	producer *producer
	conn     *conn
	session  *amqp.Session
	out      *amqp.Sender
	message  amqp.Message  // the same for each payload
	lost     atomic.Bool   // the session has ended by itself
	leaving  chan struct{} // closed when the producer closes
	more     chan struct{} // receives when a message was added to open

	mu   sync.Mutex // guards open and over
	open []sent     // messages whose outcome no goroutine waits for yet
	over bool       // no goroutine will wait for outcomes any more
}

// sent is a message whose outcome has not come.
type sent struct {
	token   uint64
	receipt amqp.SendReceipt
}

// senderOptions are those of producers' links.
func (s *session) senderOptions() *amqp.SenderOptions {
	o := &amqp.SenderOptions{TargetCapabilities: s.capability()}
	if s.options.Settled {
		o.SettlementMode = amqp.SenderSettleModeSettled.Ptr()
	}
	return o
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p := &producer{session: s, key: kit.Key{Role: kit.Producer, Conn: spec.Conn}, address: s.address(spec.Topic), acks: acks}
	for _, h := range spec.Headers {
		if p.properties == nil {
			p.properties = map[string]any{}
		}
		p.properties[h.Name] = h.Value
	}
	var err error
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	if err := p.link.Join(ctx, p); err != nil {
		if s.Closed() {
			err = fmt.Errorf("%w: %w", driver.ErrClosed, err)
		}
		p.Close(ctx)
		return nil, wrap(err, "producer of %q", spec.Topic)
	}
	return p, nil
}

// Attach implements kit.Member.
func (p *producer) Attach(ctx context.Context, c *conn) error {
	n := &sender{producer: p, conn: c, leaving: make(chan struct{}), more: make(chan struct{}, 1),
		message: amqp.Message{ApplicationProperties: p.properties, Data: [][]byte{nil}}}
	o := &p.session.options
	if o.Durable {
		n.message.Header = &amqp.MessageHeader{Durable: true, Priority: 4} // 4 is the usual one
	}
	var err error
	if n.session, err = c.begin(ctx); err != nil {
		return wrap(err, "begin a session")
	}
	if n.out, err = n.session.NewSender(ctx, p.address, p.session.senderOptions()); err != nil {
		c.quit(ctx, n.session)
		return wrap(err, "attach to %q", p.address)
	}
	if !o.Settled {
		go n.resolve()
	}
	p.now.Store(n)
	return nil
}

// Send implements driver.Producer. The library has copied the payload when it
// returns.
func (p *producer) Send(token uint64, payload []byte) error {
	n := p.now.Load()
	switch {
	case p.closed.Load():
		return p.wrap(driver.ErrClosed)
	case n == nil, n.lost.Load(), n.conn.isOver():
		return p.wrap(p.link.Absent())
	}
	n.message.Data[0] = payload
	m := sent{token: token}
	var err error
	if p.session.options.Settled {
		if err = n.out.Send(context.Background(), &n.message, nil); err == nil {
			p.acks.Done(token, nil)
			return nil
		}
	} else if m.receipt, err = n.out.SendWithReceipt(context.Background(), &n.message, nil); err == nil {
		if !n.push(m) {
			p.acks.Done(token, n.unknown(n.conn.Err()))
		}
		return nil
	}
	if _, own := err.(*amqp.Error); own { // not wrapped: the library's own limit, and not the link's end
		return p.wrap(err)
	}
	n.end(err)
	p.acks.Done(token, n.unknown(err)) // it may have been written
	return nil
}

func (p *producer) wrap(err error) error { return wrap(err, "send to %q", p.address) }

// push passes a message to the goroutine that waits for outcomes; false: it has ended.
func (n *sender) push(m sent) bool {
	n.mu.Lock()
	over := n.over
	if !over {
		n.open = append(n.open, m)
	}
	n.mu.Unlock()
	if over {
		return false
	}
	select {
	case n.more <- struct{}{}:
	default: // it has not looked yet
	}
	return true
}

// askAgain is how often an outcome is asked for when its session has ended: where both
// have come, the library tells one of them by chance.
const askAgain = 20

// resolve waits for outcomes, in the order of sending.
func (n *sender) resolve() {
	var batch []sent
	for more := true; more; {
		batch, more = n.take(batch)
		for _, m := range batch {
			state, err := m.receipt.Wait(context.Background())
			for i := 0; i < askAgain && err != nil; i++ {
				state, err = m.receipt.Wait(context.Background())
			}
			n.producer.acks.Done(m.token, n.outcome(state, err))
			if err != nil {
				n.end(err)
			}
		}
	}
}

// take returns what to wait for next, for what it returned before; false: the session
// is over, and no more comes.
func (n *sender) take(done []sent) (batch []sent, more bool) {
	clear(done)
	for over := false; ; {
		n.mu.Lock()
		n.over = over
		if len(n.open) > 0 || over {
			batch, n.open = n.open, done[:0]
			n.mu.Unlock()
			return batch, !over
		}
		n.mu.Unlock()
		select {
		case <-n.more:
		case <-n.conn.Done():
			over = true
		case <-n.leaving:
			over = true
		}
	}
}

// outcome is what became of a message.
func (n *sender) outcome(state amqp.DeliveryState, err error) error {
	if err != nil {
		return n.unknown(err)
	}
	switch state := state.(type) {
	case *amqp.StateRejected:
		if state.Error != nil {
			return n.producer.wrap(state.Error)
		}
		return n.producer.wrap(driver.ErrRejected)
	case *amqp.StateReleased:
		return n.producer.wrap(fmt.Errorf("%w: the message was released, as by RabbitMQ from 4.0 on where no queue takes it", driver.ErrRejected))
	case *amqp.StateModified:
		return n.producer.wrap(fmt.Errorf("%w: the message was modified", driver.ErrRejected))
	}
	return nil // accepted, or settled without a word
}

// unknown is the outcome of a message that the broker has not answered.
func (n *sender) unknown(why error) error {
	p := n.producer
	if p.closed.Load() || p.link.Closing() {
		return fmt.Errorf("amqp10: send to %q: the producer was closed before the broker answered: %w", p.address, driver.ErrClosed)
	}
	return fmt.Errorf("amqp10: send to %q: the session ended before the broker answered: %w: %v", p.address, driver.ErrTimeout, why)
}

// end is called when the session has ended. If its connection goes on, that is
// made again: there is one way back, not two.
func (n *sender) end(why error) {
	if n.lost.CompareAndSwap(false, true) && !n.producer.closed.Load() && !n.conn.isOver() {
		n.conn.ended(n.producer.link, wrap(why, "send to %q", n.producer.address))
	}
}

// Sync implements driver.Syncer: the broker answers to a link that is attached behind
// all that was sent. It stays until the session ends, see the package's comment.
func (p *producer) Sync(ctx context.Context) error {
	n := p.now.Load()
	if n == nil {
		return p.wrap(p.link.Absent())
	}
	_, err := n.session.NewSender(ctx, p.address, p.session.senderOptions())
	return wrap(err, "wait for a round trip behind what was sent to %q", p.address)
}

// Close implements driver.Producer. The connection ends with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	p.link.Part(p)
	if n := p.now.Swap(nil); n != nil {
		n.conn.quit(ctx, n.session)
		close(n.leaving)
	}
	p.session.links.Release(ctx, p.key, p.link)
	return nil
}
