package redis

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/resp"
)

// consumer implements driver.Consumer.
type consumer struct {
	session *session
	gate    *kit.Gate
	in      []subscription
	closed  atomic.Bool
}

// subscription is that of a consumer to a channel, on a connection that others may share.
type subscription struct {
	channel string
	key     resp.LinkKey
	in      *receiver
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	switch {
	case spec.Ack.Mode > driver.AckNone:
		return nil, fmt.Errorf("redis: consumer acknowledgements: %w: publish and subscribe has none", driver.ErrUnsupported)
	case spec.Group != "":
		return nil, fmt.Errorf("redis: group %q: %w: every subscriber gets every message", spec.Group, driver.ErrUnsupported)
	}
	c := &consumer{session: s, gate: kit.NewGate(deliver)}
	key := kit.Key{Role: kit.Consumer, Conn: spec.Conn}
	if spec.Slow { // it would hold up those that it shares a connection with
		key = kit.Key{Role: kit.Consumer, Conn: spec.ID, Slow: true}
	}
	for _, topic := range spec.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			c.Close(ctx)
			return nil, err
		}
		if err := s.Await(ctx, "subscribe", func() error { return c.subscribe(ctx, s.LinkKey(key, channel), channel) }); err != nil {
			c.Close(ctx)
			return nil, err
		}
	}
	return c, nil
}

// subscribe adds a subscription.
func (c *consumer) subscribe(ctx context.Context, key resp.LinkKey, channel string) error {
	in, err := c.session.consumers.Acquire(ctx, key)
	if err != nil {
		return err
	}
	if err := in.subscribe(ctx, channel, c.gate); err != nil {
		c.session.consumers.Release(ctx, key, in)
		return c.session.Wrap(c.session.Referred("", err), "subscribe to %q", channel)
	}
	c.in = append(c.in, subscription{channel, key, in})
	return nil
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	err := c.gate.Shut(ctx)
	if c.closed.CompareAndSwap(false, true) {
		go func() { // a write may be stuck
			for _, x := range c.in {
				x.in.unsubscribe(x.channel, c.gate)
			}
		}()
		for _, x := range c.in {
			c.session.consumers.Release(ctx, x.key, x.in)
		}
	}
	if err != nil {
		return c.session.Wrap(err, "close a consumer")
	}
	return nil
}
