package rabbitmq

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq/wire"
)

// Depth implements driver.DepthTeller: the messages that the queue has not handed out.
// A stream does not count what it hands out, it only knows its length.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	name := s.topology.groupQueue(topic, spec.Group)
	alone := spec.Group == "" && s.options.Exchange != noExchange && !s.Target.Given
	switch {
	case s.options.QueueType == stream:
		return driver.Depth{}, fmt.Errorf("rabbitmq: depth of %q: %w: AMQP does not say where a stream ends; driver rabbitmq-stream can", name, driver.ErrUnsupported)
	case alone && len(spec.Topics) > 1:
		return driver.Depth{}, fmt.Errorf("rabbitmq: depth of %q for one consumer: %w: one queue holds the messages of all its topics", topic, driver.ErrUnsupported)
	case alone:
		name = s.topology.ownQueue(spec.ID)
	}
	var d driver.Depth
	err := s.admin.do(ctx, func(ch *wire.Channel) (err error) {
		d.Messages, err = ch.CheckQueue(ctx, name)
		return err
	})
	if err != nil {
		return d, wrap(err, "ask how many messages queue %q has", name)
	}
	return d, nil
}
