package mesh

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// ErrNobody says that no consumer is connected to take a message.
var ErrNobody = fmt.Errorf("%w: no consumer is connected", driver.ErrNotConnected)

// Sending describes the sends of one producer: its topic, and the Acks to call. Messages are
// not acknowledged: Done comes inside Send.
type Sending struct {
	*kit.Errors
	Topic string
	Acks  driver.Acks
}

// Sent ends a Send with the socket's result. ErrNobody and driver.ErrTimeout (the message may
// have been sent) are outcomes of the message and go to Done; Sent returns other errors.
func (s *Sending) Sent(token uint64, err error) error {
	if err == nil {
		s.Acks.Done(token, nil)
		return nil
	}
	answer := errors.Is(err, ErrNobody) || errors.Is(err, driver.ErrTimeout)
	err = s.Wrap(err, "send to %q", s.Topic)
	if !answer {
		return err
	}
	s.Acks.Done(token, err)
	return nil
}

// Producer is a driver.Producer but for Send. The producers of a line share its socket.
type Producer[S comparable] struct {
	Sending
	Socket S
	Head   string // before each payload
	Closed atomic.Bool

	line    Line
	senders *kit.Pool[Line, S]
}

// Connect connects a producer.
func (s *Session[S, R]) Connect(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (*Producer[S], error) {
	if err := s.checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	p := &Producer[S]{Sending: Sending{s.Errors, spec.Topic, acks}, senders: s.senders}
	p.line, p.Head = lineOf(spec, s.Pipeline)
	var err error
	if p.Socket, err = s.senders.Acquire(ctx, p.line); err != nil {
		return nil, err
	}
	return p, nil
}

// Close implements driver.Producer. The socket closes with its last producer.
func (p *Producer[S]) Close(ctx context.Context) error {
	if p.Closed.CompareAndSwap(false, true) {
		p.senders.Release(ctx, p.line, p.Socket)
	}
	return nil
}
