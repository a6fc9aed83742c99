//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
)

// producer implements driver.Producer. libzmq copies what it is given, so Done
// comes inside Send.
type producer struct {
	link   *link
	topic  string
	head   string // before each payload
	acks   driver.Acks
	closed atomic.Bool
}

// prefix is what messages of a topic begin with.
func prefix(topic string) string { return topic + "\x00" }

// The keys by which sockets meet.
const meetPublishers = "publish"

func meetPushers(topic string) string    { return "push " + topic }
func meetResponders(topic string) string { return "request " + topic }

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	p := &producer{topic: spec.Topic, acks: acks}
	var err error
	if s.driver.pipeline {
		p.link, err = s.acquire(ctx, pushes, linkKey{spec.Conn, spec.Topic}, meetPushers(spec.Topic))
	} else {
		p.head = prefix(spec.Topic)
		p.link, err = s.acquire(ctx, publishes, linkKey{conn: spec.Conn}, meetPublishers)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return fmt.Errorf("zeromq: send to %q: producer %w", p.topic, driver.ErrClosed)
	}
	if err := p.link.send(p.head, payload); err != nil {
		return settled(p.acks, p.topic, token, err)
	}
	p.acks.Done(token, nil)
	return nil
}

// settled returns an error of sending. That nobody is there is not the sender's
// failure, but an answer to the message.
func settled(acks driver.Acks, topic string, token uint64, err error) error {
	var nobody errNobody
	if errors.As(err, &nobody) {
		acks.Done(token, err)
		return nil
	}
	return fmt.Errorf("zeromq: send to %q: %w", topic, err)
}

// Close implements driver.Producer. The socket closes with its last producer.
func (p *producer) Close(context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.link.session.release(p.link)
	}
	return nil
}
