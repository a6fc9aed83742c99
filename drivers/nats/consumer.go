package nats

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// consumer implements driver.Consumer for subscribers and responders.
type consumer struct {
	session session
	link    *natswire.Link
	to      natswire.Receiver
	subs    []*natswire.Subscription
	closed  atomic.Bool // the link has been given back
}

// Consumer implements driver.Session.
func (s session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(*natswire.Link) receiver {
		return func(_, payload, _ []byte) { deliver(driver.Message{Payload: payload}) }
	})
}

// receiver is natswire.Receiver's Take.
type receiver func(subject, payload, reply []byte)

// consumer subscribes to the topics of spec with what take returns for the link.
func (s session) consumer(ctx context.Context, spec driver.ConsumerSpec, take func(*natswire.Link) receiver) (driver.Consumer, error) {
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
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Consumer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	c := s.newConsumer(l, take(l), nil)
	if err = c.subscribe(ctx, spec, subjects...); err != nil {
		c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// newConsumer returns one that has not subscribed. status takes what the server says
// instead of messages; nil: nobody does.
func (s session) newConsumer(l *natswire.Link, take receiver, status func(*nats.Msg, string)) *consumer {
	return &consumer{session: s, link: l, to: natswire.Receiver{Gate: kit.NewGate(nil), Take: take, Status: status}}
}

// subscribe returns when the server has the subscriptions, or has refused them.
func (c *consumer) subscribe(ctx context.Context, spec driver.ConsumerSpec, subjects ...string) error {
	for _, subject := range subjects {
		sub, err := c.link.Subscribe(subject, spec.Group, "", spec.Slow, &c.to)
		if sub != nil {
			c.subs = append(c.subs, sub)
		}
		if err != nil {
			return c.session.Wrap(err, "subscribe to %q", subject)
		}
	}
	if err := c.link.Settled(ctx, subjects...); err != nil {
		return c.session.Wrap(err, "subscribe to %q", subjects)
	}
	_, err := c.session.Keep(c)
	return err
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	err := c.Shut(ctx)
	if c.closed.CompareAndSwap(false, true) {
		c.session.Forget(c)
		c.session.Release(ctx, c.link)
	}
	return err
}

// Shut implements kit.Part.
func (c *consumer) Shut(ctx context.Context) error {
	go func() { // takes the client's lock, which may be stuck
		for _, sub := range c.subs {
			sub.End()
		}
	}()
	if err := c.to.Gate.Shut(ctx); err != nil {
		return c.session.Wrap(err, "close a consumer")
	}
	return nil
}
