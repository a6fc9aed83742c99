package nsq

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// sender is what the producers of a connection share, by either client: one
// network connection after the other.
type sender interface {
	current() connection // nil: not connected
	Absent() error       // why it is not connected
	ending() bool        // close has begun
	close(ctx context.Context) error
}

// connection is a network connection by which producers send.
type connection interface {
	// publish sends a message, or adds it to the batch. An error means that it was
	// not sent and never will be, and that no Done follows.
	publish(p *producer, token uint64, payload []byte) error
	flushBatch() error
	empty() <-chan struct{} // closed when no message waits for an answer; nil: none waits now
	over() bool             // it is lost
}

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	key     kit.Key
	sender  sender
	topic   string
	head    string // of a PUB
	acks    driver.Acks
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	topic, err := s.topic(spec.Topic)
	if err != nil {
		return nil, err
	}
	if err := s.fits(spec.Size); err != nil {
		return nil, err
	}
	key := kit.Key{Role: kit.Producer, Conn: spec.Conn}
	c, err := s.senders.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, key: key, sender: c, topic: topic, head: "PUB " + topic + "\n", acks: acks}
	if s.writeBuffer > 1 {
		return batching{p}, nil
	}
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() || p.sender.ending() {
		return p.failed(driver.ErrClosed)
	}
	w := p.sender.current()
	if w == nil {
		return p.failed(p.sender.Absent())
	}
	if len(payload) == 0 {
		return p.failed(fmt.Errorf("an empty message: %w", driver.ErrUnsupported))
	}
	if err := p.session.fits(len(payload)); err != nil {
		return err
	}
	if err := w.publish(p, token, payload); err != nil {
		return p.failed(err)
	}
	return nil
}

func (p *producer) failed(err error) error {
	if p.closed.Load() || p.sender.ending() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return fmt.Errorf("nsq: publish to %q: %w", p.topic, err)
}

// Sync implements driver.Syncer: it waits until nsqd has answered all that was
// sent.
func (p *producer) Sync(ctx context.Context) error {
	w := p.sender.current()
	if w == nil || p.closed.Load() {
		return p.failed(p.sender.Absent())
	}
	late := func() error {
		return fmt.Errorf("nsq: wait for the answers to what was sent to %q: %w: %w", p.topic, driver.ErrTimeout, context.Cause(ctx))
	}
	flushed := make(chan error, 1)
	go func() { flushed <- w.flushBatch() }() // a write may be stuck
	select {
	case err := <-flushed:
		if err != nil {
			return p.failed(err)
		}
	case <-ctx.Done():
		return late()
	}
	if empty := w.empty(); empty != nil {
		select {
		case <-empty:
		case <-ctx.Done():
			return late()
		}
	}
	if w.over() {
		return p.failed(p.sender.Absent())
	}
	return nil
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	w := p.sender.current()
	if w == nil || p.closed.Load() {
		return p.failed(p.sender.Absent())
	}
	if err := w.flushBatch(); err != nil {
		return p.failed(err)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last
// producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.senders.Release(ctx, p.key, p.sender)
	}
	return nil
}
