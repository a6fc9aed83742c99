package nats

import (
	"context"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// producer implements driver.Producer and driver.Syncer. The client copies
// what it is given, and a publisher has written it, so Done comes inside Send.
type producer struct {
	session session
	link    *natswire.Link
	out     *natswire.Publisher
	subject string
	acks    driver.Acks
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	if p.link.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

func (s session) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (*producer, error) {
	subject, err := s.subject(spec.Topic)
	if err != nil {
		return nil, err
	}
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Producer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	if limit := l.Conn().MaxPayload(); int64(spec.Size+natswire.HeaderSize(spec.Headers)) > limit {
		s.Release(ctx, l)
		return nil, tooLarge(spec.Size, spec.Headers, limit)
	}
	p := &producer{session: s, link: l, out: natswire.NewPublisher(l), subject: subject, acks: acks}
	p.out.Carry(spec.Headers)
	p.out.Address(subject, "")
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.out.Publish(payload); err != nil {
		return p.sendError(err)
	}
	p.acks.Done(token, nil)
	return nil
}

func (p *producer) sendError(err error) error {
	if p.link.Closing() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return p.session.Wrap(err, "send to %q", p.subject)
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.link.Flush(ctx); err != nil {
		return p.session.Wrap(err, "wait for the server to have read what was sent to %q", p.subject)
	}
	return nil
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error { return p.flush() }

func (p *producer) flush() error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.link.FlushBatch(); err != nil {
		return p.sendError(err)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last
// producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.Release(ctx, p.link)
	}
	return nil
}
