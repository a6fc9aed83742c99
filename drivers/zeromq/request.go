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
	mesh.Sending
}

// Requester implements driver.RequestReplier.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	r, to, err := s.Request(ctx, spec, acks, replies)
	if err != nil {
		return nil, err
	}
	return &requester{r, to}, nil
}

// Send implements driver.Producer.
func (r *requester) Send(token uint64, payload []byte) error {
	return r.Sent(token, r.request(payload))
}

// request sends a request. It waits while the queue is full, like link.send.
func (r *receiver) request(payload []byte) error {
	pause := firstPause
	for {
		r.mu.Lock()
		if r.closed.Load() || r.ptr == nil {
			r.mu.Unlock()
			return driver.ErrClosed
		}
		rc, news := request(r.ptr, payload)
		if news || rc != 0 {
			r.rouse()
		}
		r.mu.Unlock()
		if rc == 0 {
			return nil
		}
		if !again(rc) {
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, failure(rc))
		}
		if r.member.Peers() == 0 {
			return mesh.ErrNobody
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
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
			r.session.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: "zeromq: reply: " + failure(rc).Error()})
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}
