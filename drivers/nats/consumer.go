package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// consumer implements driver.Consumer for subscribers and responders.
type consumer struct {
	session *session
	link    *natswire.Link
	gate    *natswire.Gate
	past    bool   // messages may go past the client
	nobody  func() // called when a request finds no responder; nil: not a requester
	subs    []natswire.Subscription
	shut    func()         // ends deliveries when a running one has ended; does not wait
	running sync.WaitGroup // the client's goroutines that deliver, and the gate
	waiting sync.Once
	idle    chan struct{} // closed when they have ended

	mu       sync.Mutex
	released bool // the link has been given back
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(*natswire.Link) natswire.Handler {
		return func(_, payload, _ []byte) { deliver(driver.Message{Payload: payload}) }
	})
}

// consumer subscribes to the topics of spec with the handler that handler
// returns for the link.
func (s *session) consumer(ctx context.Context, spec driver.ConsumerSpec, handler func(*natswire.Link) natswire.Handler) (*consumer, error) {
	if spec.Ack.Mode > driver.AckNone {
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
	l, err := s.client.Acquire(ctx, natswire.Key{Role: natswire.RoleConsumer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	c := newConsumer(s, l, handler(l))
	// Who takes long would hold up the connection's other consumers, and in the
	// end the server, which cuts such connections off.
	c.past = !spec.Slow
	for _, subject := range subjects {
		if err = c.subscribe(subject, spec.Group); err != nil {
			break
		}
	}
	if err == nil {
		err = c.settle(ctx, subjects)
	}
	if err == nil && !s.keep(c) {
		err = fmt.Errorf("nats: subscribe: session %w", driver.ErrClosed)
	}
	if err != nil {
		c.Close(ctx)
		return nil, err
	}
	return c, nil
}

func newConsumer(s *session, l *natswire.Link, h natswire.Handler) *consumer {
	c := &consumer{session: s, link: l, gate: natswire.NewGate(h), idle: make(chan struct{})}
	c.running.Add(1)
	c.shut = sync.OnceFunc(func() {
		go func() {
			defer c.running.Done()
			c.gate.Shut()
		}()
	})
	return c
}

// keep lets the session's Close wait for c, unless it is over.
func (s *session) keep(c *consumer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.Closed() {
		return false
	}
	s.consumers[c] = struct{}{}
	return true
}

func (s *session) forget(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.consumers, c)
}

func (c *consumer) subscribe(subject, group string) error {
	past := c.gate
	if !c.past {
		past = nil
	}
	sub, err := c.link.Subscribe(subject, group, "", past, c.receiver())
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

// receiver returns what the client calls with the messages that it gets to see.
func (c *consumer) receiver() nats.MsgHandler {
	var reply []byte // reused: the client has a goroutine for each subscription
	return func(m *nats.Msg) {
		if c.nobody != nil && len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
			c.nobody()
			return
		}
		reply = append(reply[:0], m.Reply...)
		c.gate.Deliver(nil, m.Data, reply)
		c.link.Rest()
	}
}

// settle waits until the server has the subscriptions, or has refused them.
func (c *consumer) settle(ctx context.Context, subjects []string) error {
	if err := c.link.Flush(ctx); err != nil {
		return wrap(err, "subscribe to %q", subjects)
	}
	// The server reports a refusal before it answers the flush, but does not
	// say to which connection's user: the text names the subject.
	last := c.link.Conn().LastError()
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
		c.session.forget(c)
		c.session.client.Release(ctx, c.link)
	}
	return err
}

// unsubscribe ends the subscriptions; no Deliver runs when it has returned,
// unless ctx ended first, which is an error.
func (c *consumer) unsubscribe(ctx context.Context) error {
	c.shut()
	go func() { // takes the client's lock, which may be stuck
		for _, sub := range c.subs {
			c.link.Unroute(sub)
			c.link.ReportDropped(sub.Subscription)
			sub.Unsubscribe() // an error means that it is gone already
		}
	}()
	return c.wait(ctx)
}

// wait returns when no Deliver runs any more, or ctx ends. The consumer is shut.
func (c *consumer) wait(ctx context.Context) error {
	c.waiting.Do(func() {
		go func() {
			c.running.Wait()
			close(c.idle)
		}()
	})
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nats: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
