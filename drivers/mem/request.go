package mem

import (
	"context"

	"sixnines/driver"
)

// Requester implements driver.RequestReplier. Faults hit requests, not replies.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	c := s.newConsumer(producers, spec.Conn) // replies come by the connection of the requests
	c.deliver = replies
	c.leave = func() { s.leave(c) }
	if err := s.start(c); err != nil {
		return nil, err
	}
	p, err := s.producer(ctx, spec, acks, c)
	if err != nil {
		c.Close(ctx)
		return nil, err
	}
	return p, nil
}

// Responder implements driver.RequestReplier.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(m driver.Message) []byte) (driver.Consumer, error) {
	c := s.newConsumer(consumers, spec.Conn)
	c.respond = respond
	if err := s.subscribe(ctx, c, spec); err != nil {
		return nil, err
	}
	return c, nil
}
