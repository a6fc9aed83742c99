package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// producer implements driver.Producer and kit.Member.
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
	room     int  // the largest payload in bytes
	grouped  bool // entries hold several messages; the ID of the last stands for all

	unanswered *kit.Unanswered[struct{}] // by publishing IDs
	reading    kit.Mark                  // the message that Send reads
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkName("topic", spec.Topic); err != nil {
		return nil, err
	}
	if s.Closed() {
		return nil, fmt.Errorf("rabbitmq-stream: producer of %q: session %w", spec.Topic, driver.ErrClosed)
	}
	if err := s.checkSize(spec.Size, spec.Headers); err != nil {
		return nil, err
	}
	p := &producer{session: s, to: publication{stream: s.stream(spec.Topic), headers: spec.Headers}, acks: acks}
	p.next.Store(1)
	if s.options.Deduplication {
		p.to.name = s.own(fmt.Sprintf("producer-%d", spec.ID))
	}
	leader, err := s.leader(ctx, p.to.stream)
	if err != nil {
		return nil, err
	}
	p.key = linkKey{kit.Key{Role: kit.Producer, Conn: spec.Conn}, leader}
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	if err := p.link.Join(ctx, p); err != nil {
		p.Close(ctx)
		return nil, wrap(s.Over(err), "producer of %q", spec.Topic)
	}
	if s.Config.WriteBuffer > 1 && s.options.Client == direct {
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

// Attach implements kit.Member.
func (p *producer) Attach(ctx context.Context, w *rabbit.Wire[connection]) error {
	s := p.session
	if p.to.name != "" {
		last, err := s.lastPublished(ctx, p.to.name, p.to.stream)
		if err != nil {
			return err
		}
		p.next.Store(max(p.next.Load(), last+1))
	}
	now := &producerState{producer: p, unanswered: kit.NewUnanswered[struct{}](p.next.Load(), 0)}
	now.unanswered.Marks(&now.reading)
	// The library tells of each message of an entry.
	now.grouped = s.options.SubEntrySize > 1 && s.options.Client == direct
	var err error
	if now.sender, err = w.Conn.publish(ctx, p.to, now); err != nil {
		return wrap(err, "declare a publisher of %q", p.to.stream)
	}
	now.room = now.sender.Room()
	p.now.Store(now)
	return nil
}

// Confirm implements wire.Publisher. It resolves consecutive IDs together.
func (n *producerState) Confirm(ids wire.IDs) {
	for i := 0; i < ids.Len(); {
		first := ids.At(i)
		last := first
		for i++; i < ids.Len() && ids.At(i) == last+1; i++ {
			last++
		}
		n.settle(first, last, nil)
	}
}

// Refuse implements wire.Publisher.
func (n *producerState) Refuse(id uint64, why wire.Code) {
	class := driver.ErrRejected
	if why == wire.FrameTooLarge {
		class = driver.ErrTooLarge
	}
	n.settle(id, id, fmt.Errorf("rabbitmq-stream: send to %q: %w: %s", n.producer.to.stream, class, why))
}

func (n *producerState) settle(first, last uint64, err error) {
	if n.grouped {
		first = 0 // all before it in the entry
	}
	n.unanswered.SettleRange(first, last, err)
}

// End implements wire.Publisher.
func (n *producerState) End(why error) {
	n.producer.now.CompareAndSwap(n, nil)
	n.end(why)
	n.producer.link.Ended(why)
}

// end resolves the remaining messages, which will get no answer.
func (n *producerState) end(why error) {
	err := fmt.Errorf("rabbitmq-stream: the publisher ended before the broker answered: %w: %w", driver.ErrTimeout, why)
	if protocol().ClassOf(why) == driver.ErrClosed {
		err = fmt.Errorf("rabbitmq-stream: the producer was closed before the broker answered: %w", driver.ErrClosed)
	}
	n.unanswered.End(err)
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
	id, ok := now.unanswered.Add(p.acks, token, struct{}{})
	if !ok {
		return p.wrap(p.link.Absent())
	}
	err := now.sender.Publish(id, payload)
	if lost := now.reading.End(id); lost != nil {
		p.acks.Done(token, lost)
		return nil
	}
	if err != nil {
		// The client library tells of its ID nevertheless, which no other must get.
		if now.unanswered.Discard(id) {
			return p.wrap(fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
		}
		return nil // it has been resolved with the others
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
	w := p.link.Live()
	if w == nil {
		return p.wrap(p.link.Absent())
	}
	if err := w.Conn.Flush(); err != nil {
		return p.wrap(fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	p.link.Part(p)
	if now := p.now.Swap(nil); now != nil {
		grace, cancel := kit.Grace(ctx)
		now.sender.Close(grace) // the connection may go on without it
		cancel()
		now.end(driver.ErrClosed)
	}
	p.session.links.Release(ctx, p.key, p.link)
	return nil
}
