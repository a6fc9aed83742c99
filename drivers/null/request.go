package null

import (
	"context"
	"crypto/rand"
	"fmt"

	"sixnines/driver"
	"sixnines/internal/nullbroker"
)

// Requester implements driver.RequestReplier. Answers come by a topic of the
// requester's own.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	if p.reply, err = s.topic("reply." + rand.Text()); err != nil {
		return nil, err
	}
	if _, err := p.link.subscribe(ctx, "", []string{p.reply}, func(f *nullbroker.Frame) {
		replies(driver.Message{Payload: f.Payload})
	}); err != nil {
		return nil, err
	}
	return p, nil
}

// Responder implements driver.RequestReplier.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(m driver.Message) []byte) (driver.Consumer, error) {
	return s.consumer(ctx, spec, func(l *link) func(f *nullbroker.Frame) {
		return func(f *nullbroker.Frame) {
			reply := respond(driver.Message{Payload: f.Payload})
			if reply == nil || len(f.Name) == 0 {
				return
			}
			if err := l.answer(string(f.Name), reply); err != nil {
				l.session.notify(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": reply: " + err.Error()})
			}
		}
	})
}

// answerMost is how many bytes of answers are collected at most.
const answerMost = 64 << 10

// answer collects an answer, to be written when all that was read with its
// request is dealt with.
func (l *link) answer(topic string, reply []byte) error {
	if len(reply) > nullbroker.MaxPayload {
		return tooLarge(len(reply))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return fmt.Errorf("%w", l.refusal())
	}
	handle := l.handleOf(topic)
	l.out = nullbroker.AppendPublish(l.out, handle, "", reply)
	l.messages++
	if len(l.out) < answerMost {
		return nil
	}
	return l.write()
}

// answered writes collected answers out.
func (l *link) answered() error {
	if l.key.role == "producer" {
		return nil // what is collected there, is so for its senders
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write()
}
