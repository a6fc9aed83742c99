package amqp10

import (
	"context"
	"fmt"
	"strings"

	"sixnines/driver"
)

// Leftovers implements driver.Cleaner. Artemis does not say when an address was made.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	if !s.is(artemisProduct) {
		why := "AMQP 1.0 does not list what is at a broker; the driver asks Artemis only"
		if s.is(rabbitMQProduct) {
			why += "; rabbitmqctl list_queues name and rabbitmqctl list_exchanges name list RabbitMQ's"
		}
		return nil, fmt.Errorf("amqp10: list addresses: %w: %s", driver.ErrUnsupported, why)
	}
	if err := s.do(ctx, func(c *conn) error {
		names, err := artemis{c.manager}.addresses(ctx)
		all = nil
		for _, name := range names {
			// An address of replies goes by itself.
			if naming().OfRun(s.Target.Prefix, name) && !strings.Contains(name, replyPart) {
				all = append(all, driver.Leftover{What: anAddress, Name: name, Ours: naming().Marked(s.Target.Prefix)})
			}
		}
		return err
	}); err != nil {
		return nil, wrap(err, "list addresses")
	}
	return all, nil
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	return wrap(s.do(ctx, func(c *conn) error { return c.broker.delete(ctx, thing{l.What, l.Name}) }), "delete %s %q", l.What, l.Name)
}
