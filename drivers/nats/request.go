package nats

import (
	"context"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
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
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	p.reply = p.link.nc.NewInbox()
	nobody := driver.Event{Kind: driver.AsyncError, Detail: p.link.key.String() + ": nobody answers " + p.subject}
	inbox := &consumer{session: s, link: p.link, idle: make(chan struct{})}
	err = inbox.subscribe(p.reply, "", func(m *nats.Msg) {
		if len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
			p.link.emit(nobody)
			return
		}
		replies(driver.Message{Payload: m.Data})
	})
	go func() {
		inbox.running.Wait()
		close(inbox.idle)
	}()
	if err == nil {
		err = inbox.settle(ctx, []string{p.reply})
	}
	if err != nil {
		inbox.unsubscribe(ctx)
		p.Close(ctx)
		return nil, err
	}
	return &requester{producer: p, inbox: inbox}, nil
}

// Close implements driver.Producer. No reply is delivered after it.
func (r *requester) Close(ctx context.Context) error {
	err := r.inbox.unsubscribe(ctx)
	r.producer.Close(ctx)
	return err
}

// Responder implements driver.RequestReplier. It answers on the client's
// goroutine and on the connection that the request came by.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(l *link) nats.MsgHandler {
		out := publisher{link: l}
		return func(m *nats.Msg) {
			reply := respond(driver.Message{Payload: m.Data})
			if reply == nil || m.Reply == "" {
				return
			}
			if err := out.publish(m.Reply, "", reply); err != nil {
				l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": reply: " + err.Error()})
			}
		}
	})
}
