package redis

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer.
type consumer struct {
	session  *session
	in       *receiver
	key      kit.Key
	gate     *kit.Gate
	channels []string
	closed   atomic.Bool
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	switch {
	case spec.Ack.Mode > driver.AckNone:
		return nil, fmt.Errorf("redis: consumer acknowledgements: %w: publish and subscribe has none", driver.ErrUnsupported)
	case spec.Group != "":
		return nil, fmt.Errorf("redis: group %q: %w: every subscriber gets every message", spec.Group, driver.ErrUnsupported)
	}
	c := &consumer{session: s, gate: kit.NewGate(deliver), key: kit.Key{Role: kit.Consumer, Conn: spec.Conn}}
	if spec.Slow { // it would hold up those that it shares a connection with
		c.key = kit.Key{Role: kit.Consumer, Conn: spec.ID, Slow: true}
	}
	for _, topic := range spec.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			return nil, err
		}
		c.channels = append(c.channels, channel)
	}
	var err error
	if c.in, err = s.consumers.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	for _, channel := range c.channels {
		if err := c.in.subscribe(ctx, channel, c.gate); err != nil {
			c.Close(ctx)
			return nil, s.Wrap(err, "subscribe to %q", channel)
		}
	}
	return c, nil
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	err := c.gate.Shut(ctx)
	if c.closed.CompareAndSwap(false, true) {
		go func() { // a write may be stuck
			for _, channel := range c.channels {
				c.in.unsubscribe(channel, c.gate)
			}
		}()
		c.session.consumers.Release(ctx, c.key, c.in)
	}
	if err != nil {
		return c.session.Wrap(err, "close a consumer")
	}
	return nil
}
