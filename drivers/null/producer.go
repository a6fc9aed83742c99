package null

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/nullbroker"
)

// producer implements driver.Producer, driver.Flusher and driver.Syncer.
type producer struct {
	link    *link
	topic   string
	reply   string // where answers go; empty: none are wanted
	acks    driver.Acks
	confirm bool
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	return s.producer(ctx, spec, acks)
}

func (s *session) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (*producer, error) {
	topic, err := s.topic(spec.Topic)
	if err != nil {
		return nil, err
	}
	l, err := s.link(ctx, linkKey{role: driver.RoleProducer, number: spec.Conn})
	if err != nil {
		return nil, err
	}
	return &producer{link: l, topic: topic, acks: acks, confirm: s.options.confirms()}, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return fmt.Errorf("null: publish to %q: %w", p.topic, driver.ErrClosed)
	}
	if len(payload) > nullbroker.MaxPayload {
		return tooLarge(len(payload))
	}
	if err := p.link.publish(p, token, payload); err != nil {
		return fmt.Errorf("null: publish to %q: %w", p.topic, err)
	}
	if !p.confirm {
		p.acks.Done(token, nil)
	}
	return nil
}

// publish writes a message, or collects it for a larger write. An error means
// that it was not sent.
func (l *link) publish(p *producer, token uint64, payload []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return l.refusal()
	}
	if len(l.out) > 0 && len(l.out)+len(payload) > l.batch {
		if err := l.write(); err != nil {
			return err
		}
	}
	handle := l.handleOf(p.topic)
	var number uint32
	if p.confirm {
		number = l.pending.add(p.acks, token)
		l.out = nullbroker.AppendConfirmed(l.out, handle, number, p.reply, payload)
	} else {
		l.out = nullbroker.AppendPublish(l.out, handle, p.reply, payload)
	}
	if len(l.out) < l.batch {
		if !p.confirm {
			l.messages++
		}
		l.hold()
		return nil
	}
	if err := l.write(); err != nil {
		if p.confirm {
			l.pending.take(number)
		}
		return err
	}
	return nil
}

// Flush implements driver.Flusher.
func (p *producer) Flush() error {
	if p.link.batch <= 1 {
		return nil
	}
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	if err := p.link.write(); err != nil {
		return fmt.Errorf("null: flush: %w", err)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if err := p.link.ask(ctx, nullbroker.AppendPing); err != nil {
		return fmt.Errorf("null: ping: %w", err)
	}
	return nil
}

// Close implements driver.Producer. The connection is the session's.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.Swap(true) {
		return nil
	}
	_ = p.link.flush(ctx) // an event tells of what is lost
	return nil
}
