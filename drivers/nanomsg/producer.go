package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// producer implements driver.Producer. What it is given has been copied, and
// written unless the library queues it, so Done comes inside Send.
type producer struct {
	session *session
	line    mesh.Line
	node    *node
	topic   string
	head    string // before each payload
	acks    driver.Acks
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	line, head := mesh.LineOf(spec, s.driver.pipeline)
	n, err := s.senders.Acquire(ctx, line)
	if err != nil {
		return nil, err
	}
	return &producer{session: s, line: line, node: n, topic: spec.Topic, head: head, acks: acks}, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() || p.node.isClosed() {
		return fmt.Errorf("nanomsg: send to %q: producer %w", p.topic, driver.ErrClosed)
	}
	m := mangos.NewMessage(len(p.head) + len(payload))
	m.Body = append(append(m.Body, p.head...), payload...)
	return sent(p.node, p.acks, p.topic, token, p.node.sock.SendMsg(m))
}

// sent ends a Send with the library's answer. That nobody is there to take a
// message is not the sender's failure, but an answer to it.
func sent(n *node, acks driver.Acks, topic string, token uint64, err error) error {
	switch {
	case err == nil:
		acks.Done(token, nil)
		return nil
	case n.isClosed():
		err = driver.ErrClosed // whatever the dying connection said
	case errors.Is(err, errNoPeers), errors.Is(err, mangos.ErrNoPeers):
		acks.Done(token, fmt.Errorf("nanomsg: send to %q: %w: nobody is there to take it", topic, driver.ErrNotConnected))
		return nil
	default:
		// It may have been written in part, or in full.
		acks.Done(token, fmt.Errorf("nanomsg: send to %q: %w: %w: %w", topic, driver.ErrTimeout, driver.ErrNotConnected, err))
		return nil
	}
	return fmt.Errorf("nanomsg: send to %q: %w", topic, err)
}

// Close implements driver.Producer. The socket closes with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.senders.Release(ctx, p.line, p.node)
	}
	return nil
}
