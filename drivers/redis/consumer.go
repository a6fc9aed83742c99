package redis

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// consumer implements driver.Consumer.
type consumer struct {
	session  *session
	in       *receiver
	key      receiverKey
	gate     *gate
	channels []string

	once sync.Once
	idle chan struct{} // closed when no delivery runs any more
	free sync.Once
}

// Consumer implements driver.Session. A consumer that takes its time gets a
// connection of its own, or it would hold up those it shares one with.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	switch {
	case spec.Ack.Mode > driver.AckNone:
		return nil, fmt.Errorf("redis: consumer acknowledgements: %w: publish and subscribe has none", driver.ErrUnsupported)
	case spec.Group != "":
		return nil, fmt.Errorf("redis: group %q: %w: every subscriber gets every message", spec.Group, driver.ErrUnsupported)
	}
	c := &consumer{session: s, gate: &gate{deliver: deliver}, key: receiverKey{number: spec.Conn}, idle: make(chan struct{})}
	if spec.Slow {
		c.key = receiverKey{slow: true, number: spec.ID}
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
	c.once.Do(func() {
		go func() {
			c.gate.shut()
			close(c.idle)
		}()
		go func() { // a write may be stuck
			for _, channel := range c.channels {
				c.in.unsubscribe(channel, c.gate)
			}
		}()
	})
	var err error
	select {
	case <-c.idle:
	case <-ctx.Done():
		err = fmt.Errorf("redis: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	c.free.Do(func() {
		if released := c.session.consumers.Release(ctx, c.key, c.in); err == nil && released != nil {
			err = fmt.Errorf("redis: %w", released)
		}
	})
	return err
}
