package nats

import (
	"context"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// noResponders is the status in the header of the empty message with which the
// server answers a request that nobody is subscribed to.
const noResponders = "503"

// requester is a producer with an inbox of its own for the replies, on its own
// connection.
type requester struct {
	*producer
	inbox *consumer
}

// Requester implements driver.RequestReplier.
func (s session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	reply := p.link.Conn().NewInbox()
	p.out.Address(p.subject, reply)
	r := &requester{producer: p, inbox: s.newConsumer(p.link, func(_, payload, _ []byte) {
		replies(driver.Message{Payload: payload})
	}, func(_ *nats.Msg, status string) {
		if status == noResponders {
			p.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: "nobody answers " + p.subject})
		}
	})}
	if err := r.inbox.subscribe(ctx, driver.ConsumerSpec{}, reply); err != nil {
		r.Close(ctx)
		return nil, err
	}
	if p.link.Batching() {
		return batchingRequester{r}, nil
	}
	return r, nil
}

// Close implements driver.Producer. No reply is delivered after it.
func (r *requester) Close(ctx context.Context) error {
	err := r.inbox.Shut(ctx)
	r.session.Forget(r.inbox)
	r.producer.Close(ctx)
	return err
}

// batchingRequester is a requester that implements driver.Flusher as well.
type batchingRequester struct{ *requester }

// Flush implements driver.Flusher.
func (r batchingRequester) Flush() error { return r.flush() }

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
