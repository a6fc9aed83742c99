package nanomsg

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// requester implements driver.Producer. It has a socket of its own, on which the
// replies come, too.
type requester struct {
	*receiver
	topic  string
	acks   driver.Acks
	number uint32 // of the last request: the library's raw sockets want one
}

// Requester implements driver.RequestReplier.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	if s.driver.pipeline {
		return nil, errNoRequests()
	}
	if err := checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	r, err := s.receive(ctx, wish{role: requests, keys: mesh.Requested(spec.Topic)}, func(body []byte, _ func([]byte) error) {
		replies(driver.Message{Payload: body})
	})
	if err != nil {
		return nil, err
	}
	return &requester{receiver: r, topic: spec.Topic, acks: acks}, nil
}

func errNoRequests() error {
	return fmt.Errorf("nanomsg: %w: a pipeline answers nothing; driver nanomsg does", driver.ErrUnsupported)
}

// Send implements driver.Producer.
func (r *requester) Send(token uint64, payload []byte) error {
	if r.isClosed() {
		return fmt.Errorf("nanomsg: request to %q: %w", r.topic, driver.ErrClosed)
	}
	m := mangos.NewMessage(len(payload))
	m.Body = append(m.Body, payload...)
	if r.session.options.direct() {
		return sent(r.node, r.acks, r.topic, token, r.sock.SendMsg(m))
	}
	if r.alone() { // the library would wait for one
		m.Free()
		return sent(r.node, r.acks, r.topic, token, errNoPeers)
	}
	r.number++
	m.Header = binary.BigEndian.AppendUint32(m.Header, r.number|lastOfHeader<<24)
	return sent(r.node, r.acks, r.topic, token, r.sock.SendMsg(m))
}

// Responder implements driver.RequestReplier. It answers on the goroutine that
// has received the request.
func (s *session) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	if s.driver.pipeline {
		return nil, errNoRequests()
	}
	if err := checkConsumer(spec); err != nil {
		return nil, err
	}
	return consumerOf(s.receive(ctx, wish{role: responds, keys: mesh.Requested(spec.Topics...), slow: spec.Slow}, func(body []byte, answer func([]byte) error) {
		if reply := respond(driver.Message{Payload: body}); reply != nil {
			// It fails when the requester has gone, and waits no more.
			_ = answer(reply)
		}
	}))
}
