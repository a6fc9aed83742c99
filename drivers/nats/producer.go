package nats

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// producer implements driver.Producer and driver.Syncer. The client copies
// what it is given, and a publisher has written it, so Done comes inside Send.
type producer struct {
	session session
	link    *natswire.Link
	out     *natswire.Publisher
	subject string
	inbox   driver.Consumer // of a requester's replies, and the link's user; nil: no requester
	acks    driver.Acks
	closed  atomic.Bool
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Producer implements driver.Session.
func (s session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	return s.producer(ctx, spec, acks, nil)
}

// Requester implements driver.RequestReplier. Replies come by the connection that requests
// go out by.
func (s session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	return s.producer(ctx, spec, acks, replies)
}

func (s session) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Producer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, link: l, out: natswire.NewPublisher(l), subject: s.Subject(spec.Topic), acks: acks}
	p.out.Carry(spec.Headers)
	reply := ""
	if replies != nil {
		reply = l.Conn().NewInbox()
		if p.inbox, err = s.subscribe(ctx, l, driver.ConsumerSpec{}, []string{reply}, natswire.Receiver{Take: payloads(replies), Status: p.status}); err != nil {
			return nil, err
		}
	}
	p.out.Address(p.subject, reply)
	if l.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

// status handles the server's status that comes instead of a reply: 503 if the subject of a
// request has no subscribers.
func (p *producer) status(_ *nats.Msg, status string) {
	if status == "503" {
		p.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: "no answer from " + p.subject})
	}
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.out.Publish(payload); err != nil {
		return p.sendError(err)
	}
	p.acks.Done(token, nil)
	return nil
}

func (p *producer) sendError(err error) error {
	if p.link.Closing() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return p.session.Wrap(err, "send to %q", p.subject)
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	return p.session.Wrap(p.link.Flush(ctx), "wait for the server to have read what was sent to %q", p.subject)
}

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	if err := p.link.FlushBatch(); err != nil {
		return p.sendError(err)
	}
	return nil
}

// Close implements driver.Producer. No reply is delivered after it. The connection ends
// with its last producer.
func (p *producer) Close(ctx context.Context) error {
	first := p.closed.CompareAndSwap(false, true)
	if p.inbox != nil {
		return p.inbox.Close(ctx)
	}
	if first {
		p.session.Release(ctx, p.link)
	}
	return nil
}
