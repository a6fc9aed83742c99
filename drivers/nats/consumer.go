package nats

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// consumer implements driver.Consumer for subscribers, responders and the replies to a
// requester.
type consumer struct {
	session session
	link    *natswire.Link // the consumer's to release
	to      natswire.Receiver
	subs    []*natswire.Subscription
	closed  atomic.Bool // the link has been released
}

// Consumer implements driver.Session.
func (s session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(*natswire.Link) receiver { return payloads(deliver) })
}

// receiver is natswire.Receiver's Take.
type receiver func(subject, payload, reply []byte)

// payloads hands the payloads of messages to deliver.
func payloads(deliver driver.Deliver) receiver {
	return func(_, payload, _ []byte) { deliver(driver.Message{Payload: payload}) }
}

// Responder implements driver.RequestReplier. It answers on the goroutine that
// delivers the request and on the connection that the request came by.
func (s session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(l *natswire.Link) receiver {
		out := natswire.NewPublisher(l)
		return func(_, payload, to []byte) {
			reply := respond(driver.Message{Payload: payload})
			if reply == nil || len(to) == 0 {
				return
			}
			if err := out.Answer(to, reply); err != nil {
				l.Emit(driver.Event{Kind: driver.AsyncError, Detail: "reply: " + err.Error()})
			}
		}
	})
}

// consumer subscribes to the topics of spec with what take returns for the link.
func (s session) consumer(ctx context.Context, spec driver.ConsumerSpec, take func(*natswire.Link) receiver) (driver.Consumer, error) {
	if spec.Ack.Mode > driver.AckNone {
		return nil, fmt.Errorf("nats: consumer acknowledgements: %w: core NATS has none", driver.ErrUnsupported)
	}
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Consumer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	var subjects []string
	for _, topic := range spec.Topics {
		subjects = append(subjects, s.Subject(topic))
	}
	return s.subscribe(ctx, l, spec, subjects, natswire.Receiver{Take: take(l)})
}

// subscribe returns when the server has the subscriptions to the subjects, or has refused
// them. The link is released with the consumer, or after an error.
func (s session) subscribe(ctx context.Context, l *natswire.Link, spec driver.ConsumerSpec, subjects []string, to natswire.Receiver) (driver.Consumer, error) {
	c := &consumer{session: s, link: l, to: to}
	c.to.Gate = kit.NewGate(nil)
	var err error
	for i := 0; i < len(subjects) && err == nil; i++ {
		var sub *natswire.Subscription
		if sub, err = l.Subscribe(subjects[i], spec.Group, "", spec.Slow, &c.to); sub != nil {
			c.subs = append(c.subs, sub)
		}
	}
	if err == nil {
		err = l.Settled(ctx, subjects...)
	}
	if err == nil {
		_, err = s.Keep(c)
	}
	if err != nil {
		c.Close(ctx)
		return nil, s.Wrap(err, "subscribe to %q", subjects)
	}
	return c, nil
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
	return c.session.Wrap(c.to.Gate.Shut(ctx), "close a consumer")
}
