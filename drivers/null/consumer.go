package null

import (
	"context"
	"fmt"
	"slices"

	"sixnines/driver"
	"sixnines/internal/nullbroker"
)

// consumer implements driver.Consumer: subscriptions of one link with successive
// numbers.
type consumer struct {
	link    *link
	first   uint32 // subscription
	topics  []string
	group   string
	receive func(f *nullbroker.Frame)
	idle    chan struct{} // holds one value while receive does not run
	closed  bool          // guarded by the value in idle
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(*link) func(f *nullbroker.Frame) {
		return func(f *nullbroker.Frame) { deliver(driver.Message{Payload: f.Payload}) }
	})
}

// consumer subscribes; receive returns what messages of the link are given to.
func (s *session) consumer(ctx context.Context, spec driver.ConsumerSpec, receive func(l *link) func(f *nullbroker.Frame)) (driver.Consumer, error) {
	if spec.Ack.Mode > driver.AckNone {
		return nil, fmt.Errorf("null: a consumer's acknowledgements: %w: the null broker keeps nothing", driver.ErrUnsupported)
	}
	var topics []string
	for _, name := range spec.Topics {
		topic, err := s.topic(name)
		if err != nil {
			return nil, err
		}
		topics = append(topics, topic)
	}
	key := linkKey{role: driver.RoleConsumer, number: spec.Conn}
	if spec.Slow {
		key.slow, key.number = true, spec.ID
	}
	l, err := s.link(ctx, key)
	if err != nil {
		return nil, err
	}
	return l.subscribe(ctx, spec.Group, topics, receive(l))
}

// subscribe returns when the subscriptions are effective.
func (l *link) subscribe(ctx context.Context, group string, topics []string, receive func(f *nullbroker.Frame)) (*consumer, error) {
	c := &consumer{link: l, group: group, topics: topics, receive: receive, idle: make(chan struct{}, 1)}
	c.idle <- struct{}{}
	l.mu.Lock()
	all := slices.Clone(*l.consumed.Load())
	c.first = uint32(len(all))
	for range topics {
		all = append(all, c)
	}
	l.consumed.Store(&all)
	l.mu.Unlock()
	for i, topic := range topics {
		if err := l.ask(ctx, func(b []byte, request uint32) []byte {
			return nullbroker.AppendSubscribe(b, request, c.first+uint32(i), group, topic)
		}); err != nil {
			l.forget(c)
			return nil, fmt.Errorf("null: subscribe to %q: %w", topic, err)
		}
	}
	return c, nil
}

// forget takes a consumer out of the link, and reports whether it was there.
func (l *link) forget(c *consumer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(*l.consumed.Load())
	was := false
	for i, x := range all {
		if x == c {
			all[i], was = nil, true
		}
	}
	l.consumed.Store(&all)
	return was
}

// message hands a message over, unless the consumer is closed.
func (c *consumer) message(f *nullbroker.Frame) {
	<-c.idle
	if !c.closed {
		c.receive(f)
	}
	c.idle <- struct{}{}
}

// Close implements driver.Consumer.
func (c *consumer) Close(ctx context.Context) error {
	select {
	case <-c.idle:
		c.closed = true
		c.idle <- struct{}{}
	case <-ctx.Done():
		return fmt.Errorf("null: close a consumer: its Deliver has not returned: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	if !c.link.forget(c) {
		return nil
	}
	// No goroutine waits for the answers: no Deliver can run any more.
	defer c.link.bound(ctx)()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for i := range c.topics {
		c.link.out = nullbroker.AppendUnsubscribe(c.link.out, 0, c.first+uint32(i))
	}
	_ = c.link.write() // a lost connection has no subscriptions
	return nil
}
