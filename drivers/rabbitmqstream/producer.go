package rabbitmqstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// producer implements driver.Producer and rabbit.Member.
type producer struct {
	session *session
	link    *link
	key     linkKey
	to      publication
	acks    driver.Acks
	closed  atomic.Bool
	now     atomic.Pointer[producerState]
	next    atomic.Uint64 // publishing ID of the next message
}

// producerState is a producer on one connection. It implements wire.Publisher.
type producerState struct {
	producer *producer
	sender   sender
	room     int // the largest payload in bytes
	pending  *pending
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkName("topic", spec.Topic); err != nil {
		return nil, err
	}
	if err := s.life.Err(); err != nil {
		return nil, fmt.Errorf("rabbitmq-stream: producer of %q: session %w", spec.Topic, driver.ErrClosed)
	}
	if err := s.checkSize(spec.Size, spec.Headers); err != nil {
		return nil, err
	}
	p := &producer{session: s, to: publication{stream: s.stream(spec.Topic), headers: spec.Headers}, acks: acks}
	p.next.Store(1)
	if s.options.Deduplication {
		p.to.name = fmt.Sprintf("sixnines.%s.producer-%d", s.target.Run, spec.ID)
	}
	leader, err := s.leader(ctx, p.to.stream)
	if err != nil {
		return nil, err
	}
	p.key = linkKey{roleProducer, spec.Conn, leader}
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	if err := p.link.Join(ctx, p); err != nil {
		if s.life.Err() != nil {
			err = fmt.Errorf("%w: %w", driver.ErrClosed, err)
		}
		p.Close(ctx)
		return nil, wrap(err, "producer of %q", spec.Topic)
	}
	if s.writeBuffer > 1 && s.options.Client == direct {
		return batching{p}, nil
	}
	return p, nil
}

// properties returns headers as messages of streams have them.
func properties(headers []driver.Header) (b []byte) {
	for _, h := range headers {
		b = wire.AppendProperty(b, h.Name, h.Value)
	}
	return b
}

// Attach implements rabbit.Member.
func (p *producer) Attach(ctx context.Context, c connection) error {
	s := p.session
	if p.to.name != "" {
		last, err := s.lastPublished(ctx, p.to.name, p.to.stream)
		if err != nil {
			return err
		}
		p.next.Store(max(p.next.Load(), last+1))
	}
	// The library tells of each message of an entry.
	grouped := s.options.SubEntrySize > 1 && s.options.Client == direct
	now := &producerState{producer: p, pending: newPending(p.acks, p.next.Load(), grouped)}
	var err error
	if now.sender, err = c.publish(ctx, p.to, now); err != nil {
		return wrap(err, "declare a publisher of %q", p.to.stream)
	}
	now.room = now.sender.Room()
	p.now.Store(now)
	return nil
}

// Confirm implements wire.Publisher.
func (n *producerState) Confirm(ids wire.IDs) { n.pending.settle(ids, nil) }

// Refuse implements wire.Publisher.
func (n *producerState) Refuse(id uint64, why wire.Code) {
	class := driver.ErrRejected
	if why == wire.FrameTooLarge {
		class = driver.ErrTooLarge
	}
	err := fmt.Errorf("rabbitmq-stream: send to %q: %w: %s", n.producer.to.stream, class, why)
	n.pending.settle(wire.IDs(binary.BigEndian.AppendUint64(nil, id)), err)
}

// End implements wire.Publisher.
func (n *producerState) End(why error) {
	n.producer.now.CompareAndSwap(n, nil)
	n.pending.end(why)
	n.producer.link.Ended(why)
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	now := p.now.Load()
	if now == nil {
		return p.wrap(p.link.Absent())
	}
	if len(payload) > now.room {
		return p.wrap(fmt.Errorf("%d bytes: %w: frames have room for %d", len(payload), driver.ErrTooLarge, now.room))
	}
	id, ok := now.pending.add(token)
	if !ok {
		return p.wrap(p.link.Absent())
	}
	err := now.sender.Publish(id, payload)
	if lost := now.pending.sending.End(id); lost != nil {
		p.acks.Done(token, lost)
		return nil
	}
	if err != nil {
		if now.pending.takeBack(id) {
			return p.wrap(fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
		}
		return nil // it has been settled with the others
	}
	p.next.Store(id + 1)
	return nil
}

func (p *producer) wrap(err error) error {
	if (p.link.Closing() || p.closed.Load()) && !errors.Is(err, driver.ErrTooLarge) {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return wrap(err, "send to %q", p.to.stream)
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	c, ok := p.link.Current()
	if !ok {
		return p.wrap(p.link.Absent())
	}
	if err := c.Flush(); err != nil {
		return p.wrap(fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	p.link.Leave(p)
	if now := p.now.Swap(nil); now != nil {
		grace, cancel := rabbit.Grace(ctx)
		now.sender.Close(grace) // the connection may go on without it
		cancel()
		now.pending.end(driver.ErrClosed)
	}
	p.session.links.Release(ctx, p.key, p.link)
	return nil
}
