package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
)

// receiver is a socket whose messages are handled. It implements
// driver.Consumer.
type receiver struct {
	*node
	handle  handler
	backlog *backlog // nil: what has been read is handled at once
	shutin  atomic.Bool
	// inside is held while a message is handled: of all connections one at a
	// time, and none after Close.
	inside sync.Mutex
	once   sync.Once
	done   chan struct{} // closed when nothing is handled any more
}

// handler handles a message, which is the library's again when it returns.
// answer sends a reply, where the role is to respond.
type handler func(body []byte, answer func(reply []byte) error)

// wish is what to receive.
type wish struct {
	role     role
	keys     []string // by which it meets others
	prefixes []string // that a subscriber asks for
	slow     bool     // see driver.ConsumerSpec
}

// receive starts a receiver.
func (s *session) receive(ctx context.Context, w wish, handle handler) (*receiver, error) {
	finished, err := s.join("receive")
	if err != nil {
		return nil, err
	}
	defer finished()
	r := &receiver{handle: handle, done: make(chan struct{})}
	if s.options.direct() && s.queues(w.role, w.slow) {
		r.backlog = newBacklog(s.limit())
	}
	if r.node, err = s.newNode(w.role, r.take); err != nil {
		return nil, err
	}
	if r.backlog != nil {
		go r.backlog.serve(r.serve)
	}
	if !s.options.direct() {
		if w.role == subscribes {
			for _, p := range w.prefixes {
				err = errors.Join(err, r.sock.SetOption(mangos.OptionSubscribe, p))
			}
			if err != nil {
				r.node.close()
				return nil, fmt.Errorf("nanomsg: subscribe: %w: %w", driver.ErrNotConnected, err)
			}
		}
		go r.run()
	}
	s.mu.Lock()
	s.receivers[r] = struct{}{}
	s.mu.Unlock()
	if err := s.add(ctx, r.node, w.keys...); err != nil {
		s.forget(r)
		r.shut()
		r.wait(ctx)
		return nil, err
	}
	return r, nil
}

func (s *session) forget(r *receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.receivers, r)
}

// queues reports whether a receiver keeps what it cannot handle at once. A
// subscriber that takes its time would hold up its publishers, and with them all
// others; inproc has no buffers.
func (s *session) queues(r role, slow bool) bool {
	return slow && r == subscribes || s.room.Address().Scheme == "inproc"
}

// take implements taker.
func (r *receiver) take(p *pipe, m *mangos.Message, body []byte) (keeps bool) {
	if r.backlog != nil {
		return r.backlog.put(p.keep(m, body))
	}
	r.serve(body, p.answer)
	return false
}

// serve hands a message over, unless the receiver has been closed.
func (r *receiver) serve(body []byte, answer func([]byte) error) {
	r.inside.Lock()
	defer r.inside.Unlock()
	if !r.shutin.Load() {
		r.handle(body, answer)
	}
}

// run takes messages from the library's socket until it closes.
func (r *receiver) run() {
	var header []byte
	answer := func(reply []byte) error {
		m := mangos.NewMessage(len(reply))
		m.Header = append(m.Header, header...)
		m.Body = append(m.Body, reply...)
		return r.sock.SendMsg(m)
	}
	for {
		m, err := r.sock.RecvMsg()
		if err != nil {
			return // closed: no time limit is set
		}
		header = m.Header
		r.serve(m.Body, answer)
		m.Free()
	}
}

// shut makes the receiver end.
func (r *receiver) shut() {
	r.once.Do(func() {
		r.shutin.Store(true)
		if r.backlog != nil {
			r.backlog.close()
		}
		r.node.close()
		go func() {
			r.inside.Lock() // what is being handled ends
			defer r.inside.Unlock()
			close(r.done)
		}()
	})
}

// wait returns when nothing is handled any more, or ctx ends.
func (r *receiver) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nanomsg: close a socket %s: %w: Deliver has not returned: %w", r.role, driver.ErrTimeout, context.Cause(ctx))
	}
}

// Close implements driver.Consumer.
func (r *receiver) Close(ctx context.Context) error {
	r.shut()
	err := r.wait(ctx)
	r.session.forget(r)
	return err
}
