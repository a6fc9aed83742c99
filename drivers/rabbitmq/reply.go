package rabbitmq

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/rabbitmq/wire"
)

// replyQueue is what the broker takes for "straight to the channel that asked",
// without a queue.
const replyQueue = "amq.rabbitmq.reply-to"

// Requester implements driver.RequestReplier: its channel consumes its answers,
// which no queue holds.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	if s.options.Transaction > 0 {
		return nil, fmt.Errorf("rabbitmq: requests in transactions: %w: an answer would come to a question not yet committed", driver.ErrUnsupported)
	}
	p, err := s.producer(ctx, spec, acks, kit.NewGate(replies))
	if err != nil {
		return nil, err
	}
	return s.flushing(p), nil
}

// Responder implements driver.RequestReplier. Answers are sent over a channel of
// the consumer's connection, and not confirmed.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(m driver.Message) (reply []byte)) (driver.Consumer, error) {
	a := &answers{}
	c := &consumer{respond: respond, answer: a.send}
	a.consumer = c
	if err := s.consume(ctx, spec, c); err != nil {
		return nil, err
	}
	return c, nil
}

// answers sends what a responder has to say. It is of the goroutine that
// delivers.
type answers struct {
	consumer *consumer
	prepared wire.Prepared
}

func (a *answers) send(to, reply []byte) {
	in := a.consumer.now.Load()
	if in == nil || len(to) == 0 {
		return // the connection is lost and so is the request's reply queue, or it is not a request
	}
	ch := *in.channel.Load()
	ch.Prepare(&a.prepared, wire.Envelope{Key: string(to)})
	_ = ch.Publish(&a.prepared, reply) // an error means that the connection is lost, which an event reports
}
