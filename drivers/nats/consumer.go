package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

// consumer implements driver.Consumer for subscribers and responders.
type consumer struct {
	session *session
	link    *link
	subs    []*nats.Subscription
	running sync.WaitGroup // the client's goroutines that deliver
	idle    chan struct{}  // closed when they have ended

	mu       sync.Mutex
	released bool // the link has been given back
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(*link) nats.MsgHandler {
		return func(m *nats.Msg) { deliver(driver.Message{Payload: m.Data}) }
	})
}

// consumer subscribes to the topics of spec with the handler that handler
// returns for the link.
func (s *session) consumer(ctx context.Context, spec driver.ConsumerSpec, handler func(*link) nats.MsgHandler) (*consumer, error) {
	if spec.Ack.Mode != driver.AckNone {
		return nil, fmt.Errorf("nats: consumer acknowledgements: %w: core NATS has none", driver.ErrUnsupported)
	}
	if spec.Group != "" {
		if err := checkName("group", spec.Group); err != nil {
			return nil, err
		}
	}
	var subjects []string
	for _, topic := range spec.Topics {
		subject, err := s.subject(topic)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, subject)
	}
	l, err := s.acquire(ctx, linkKey{roleConsumer, spec.Conn})
	if err != nil {
		return nil, err
	}
	h := handler(l)
	if len(subjects) > 1 {
		h = serial(h)
	}
	c := &consumer{session: s, link: l, idle: make(chan struct{})}
	for _, subject := range subjects {
		if err = c.subscribe(subject, spec.Group, h); err != nil {
			break
		}
	}
	go func() {
		c.running.Wait()
		close(c.idle)
	}()
	if err == nil {
		err = c.settle(ctx, subjects)
	}
	if err != nil {
		c.Close(ctx)
		return nil, err
	}
	s.mu.Lock()
	closed := s.closed
	s.consumers[c] = struct{}{}
	s.mu.Unlock()
	if closed {
		c.Close(ctx)
		return nil, fmt.Errorf("nats: subscribe: session %w", driver.ErrClosed)
	}
	return c, nil
}

// serial lets one call of h run at a time: the client has a goroutine for each
// subscription.
func serial(h nats.MsgHandler) nats.MsgHandler {
	var mu sync.Mutex
	return func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		h(m)
	}
}

func (c *consumer) subscribe(subject, group string, h nats.MsgHandler) error {
	sub, err := c.link.nc.QueueSubscribe(subject, group, h)
	if err != nil {
		return wrap(err, "subscribe to %q", subject)
	}
	c.running.Add(1)
	ended := sync.OnceFunc(c.running.Done)
	sub.SetClosedHandler(func(string) { ended() })
	if !sub.IsValid() { // the connection has closed, and may not have called it
		ended()
	}
	c.subs = append(c.subs, sub)
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return wrap(err, "lift the limits of the subscription to %q", subject)
	}
	return nil
}

// settle waits until the server has the subscriptions, or has refused them.
func (c *consumer) settle(ctx context.Context, subjects []string) error {
	if err := c.link.flush(ctx); err != nil {
		return wrap(err, "subscribe to %q", subjects)
	}
	// The server reports a refusal before it answers the flush, but does not
	// say to which connection's user: the text names the subject.
	last := c.link.nc.LastError()
	switch {
	case errors.Is(last, nats.ErrPermissionViolation):
		for _, subject := range subjects {
			if strings.Contains(last.Error(), `"`+subject+`"`) {
				return wrap(last, "subscribe to %q", subject)
			}
		}
	case errors.Is(last, nats.ErrMaxSubscriptionsExceeded):
		return wrap(last, "subscribe to %q", subjects)
	}
	return nil
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	err := c.unsubscribe(ctx)
	c.mu.Lock()
	first := !c.released
	c.released = true
	c.mu.Unlock()
	if first {
		c.session.mu.Lock()
		delete(c.session.consumers, c)
		c.session.mu.Unlock()
		c.session.release(ctx, c.link.key)
	}
	return err
}

// unsubscribe ends the subscriptions; no Deliver runs when it has returned,
// unless ctx ended first, which is an error.
func (c *consumer) unsubscribe(ctx context.Context) error {
	go func() { // takes the client's lock, which may be stuck
		for _, sub := range c.subs {
			c.link.reportDropped(sub)
			sub.Unsubscribe() // an error means that it is gone already
		}
	}()
	return c.wait(ctx)
}

// wait returns when no Deliver runs any more, or ctx ends.
func (c *consumer) wait(ctx context.Context) error {
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nats: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
