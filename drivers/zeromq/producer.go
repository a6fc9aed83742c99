//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// producer implements driver.Producer. libzmq copies what it is given, so Done
// comes inside Send.
type producer struct {
	link   *link
	topic  string
	head   string // before each payload
	acks   driver.Acks
	closed atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	line, head := mesh.LineOf(spec, s.driver.pipeline)
	l, err := s.links.Acquire(ctx, line)
	if err != nil {
		return nil, err
	}
	return &producer{link: l, topic: spec.Topic, head: head, acks: acks}, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return fmt.Errorf("zeromq: send to %q: producer %w", p.topic, driver.ErrClosed)
	}
	if err := p.link.send(p.head, payload); err != nil {
		return settled(p.acks, p.topic, token, err)
	}
	p.acks.Done(token, nil)
	return nil
}

// settled returns an error of sending. That nobody is there is not the sender's
// failure, but an answer to the message.
func settled(acks driver.Acks, topic string, token uint64, err error) error {
	var nobody errNobody
	if errors.As(err, &nobody) {
		acks.Done(token, err)
		return nil
	}
	return fmt.Errorf("zeromq: send to %q: %w", topic, err)
}

// Close implements driver.Producer. The socket closes with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.link.session.links.Release(ctx, p.link.line, p.link)
	}
	return nil
}
