//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// requester implements driver.Producer. It has a socket of its own, on which the
// replies come, too.
type requester struct {
	*receiver
	topic string
	acks  driver.Acks
}

// Requester implements driver.RequestReplier.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	if s.driver.pipeline {
		return nil, errNoRequests()
	}
	if err := s.checkConsumer(driver.ConsumerSpec{Topics: []string{spec.Topic}}); err != nil {
		return nil, err
	}
	r, err := s.receive(ctx, requests, mesh.Requested(spec.Topic), nil, func(_ *receiver, _ int, message []byte) {
		replies(driver.Message{Payload: message})
	})
	if err != nil {
		return nil, err
	}
	return &requester{receiver: r, topic: spec.Topic, acks: acks}, nil
}

func errNoRequests() error {
	return fmt.Errorf("zeromq: %w: a pipeline answers nothing; driver zeromq does", driver.ErrUnsupported)
}

// Send implements driver.Producer.
func (r *requester) Send(token uint64, payload []byte) error {
	pause := firstPause
	for {
		r.mu.Lock()
		if r.closed.Load() || r.ptr == nil {
			r.mu.Unlock()
			return fmt.Errorf("zeromq: request to %q: %w", r.topic, driver.ErrClosed)
		}
		rc, news := request(r.ptr, payload)
		if news || rc != 0 {
			r.rouse()
		}
		r.mu.Unlock()
		if rc == 0 {
			r.acks.Done(token, nil)
			return nil
		}
		if !again(rc) {
			return fmt.Errorf("zeromq: request to %q: %w: %w", r.topic, driver.ErrNotConnected, failure(rc))
		}
		if r.member.Peers() == 0 {
			return settled(r.acks, r.topic, token, errNobody{r.topic})
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}

// Responder implements driver.RequestReplier. It answers on the goroutine that
// has received the request.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	if s.driver.pipeline {
		return nil, errNoRequests()
	}
	if err := s.checkConsumer(spec); err != nil {
		return nil, err
	}
	return consumerOf(s.receive(ctx, responds, mesh.Requested(spec.Topics...), nil, func(r *receiver, i int, message []byte) {
		if reply := respond(driver.Message{Payload: message}); reply != nil {
			r.answer(i, reply)
		}
	}))
}

// answer sends reply to the sender of message i.
func (r *receiver) answer(i int, reply []byte) {
	pause := firstPause
	for !r.closed.Load() {
		r.mu.Lock()
		rc := r.batch.reply(r.ptr, i, reply)
		r.mu.Unlock()
		switch {
		case rc == 0, unreachable(rc): // the requester has gone, and waits no more
			return
		case !again(rc):
			r.session.notify(driver.Event{Kind: driver.AsyncError, Detail: "zeromq: reply: " + failure(rc).Error()})
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}
