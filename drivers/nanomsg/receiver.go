package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
)

// receiver is a socket whose messages are handled. It implements
// driver.Consumer and kit.Part.
type receiver struct {
	*node
	wish    mesh.Wish
	backlog *kit.Backlog[arrival] // nil: what has been read is handled at once
	// gate is held while a message is handled: of all connections one at a time.
	gate *kit.Gate
}

// receive starts a receiver.
func (s *session) receive(ctx context.Context, w mesh.Wish) (*receiver, error) {
	finished, err := s.join("receive")
	if err != nil {
		return nil, err
	}
	defer finished()
	r := &receiver{wish: w, gate: kit.NewGate(nil)}
	if r.node, err = s.newNode(w.Role, r.take); err != nil {
		return nil, err
	}
	if s.options.direct() && s.queues(w.Role, w.Slow) { // before it is connected
		r.backlog = kit.NewBacklog(r.arrived)
		r.backlog.Limit(s.Limit())
	}
	if !s.options.direct() {
		if w.Role == mesh.Subscribes {
			for _, p := range w.Prefixes {
				err = errors.Join(err, r.sock.SetOption(mangos.OptionSubscribe, p))
			}
			if err != nil {
				r.node.close()
				return nil, fmt.Errorf("nanomsg: subscribe: %w: %w", driver.ErrNotConnected, err)
			}
		}
		go r.run()
	}
	if _, err = s.Keep(r); err == nil {
		err = s.add(ctx, r.node, w.Keys...)
	}
	if err != nil {
		r.Close(ctx)
		return nil, err
	}
	return r, nil
}

// queues reports whether a receiver keeps what it cannot handle at once. A
// subscriber that takes its time would hold up its publishers, and with them all
// others; inproc has no buffers.
func (s *session) queues(r mesh.Role, slow bool) bool {
	return slow && r == mesh.Subscribes || s.Room.Address().Scheme == "inproc"
}

// take implements taker.
func (r *receiver) take(p *pipe, m *mangos.Message, body []byte) (keeps bool) {
	if r.backlog != nil {
		header := slices.Clone(p.header)
		return r.backlog.Add(arrival{m, body, func(reply []byte) error { return p.reply(header, reply) }})
	}
	r.serve(body, p.answer)
	return false
}

// arrival is a message that has been kept.
type arrival struct {
	message *mangos.Message
	body    []byte
	answer  func(reply []byte) error // where the role is to respond
}

func (r *receiver) arrived(a arrival) {
	r.serve(a.body, a.answer)
	a.message.Free()
}

// serve hands a message over, unless the receiver has been closed. answer sends a
// reply, where the role is to respond.
func (r *receiver) serve(body []byte, answer func([]byte) error) {
	r.gate.Lock()
	defer r.gate.Unlock()
	switch {
	case r.gate.IsShut():
	case r.wish.Respond == nil:
		r.wish.Handle(body)
	default:
		if reply := r.wish.Respond(driver.Message{Payload: body}); reply != nil {
			// It fails when the requester has gone, and waits no more.
			_ = answer(reply)
		}
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

// Shut implements kit.Part.
func (r *receiver) Shut(ctx context.Context) error {
	if r.backlog != nil {
		r.backlog.Stop()
	}
	r.node.close()
	return r.session.Wrap(r.gate.Shut(ctx), "close a socket %s", nameOf(r.role))
}

// Close implements driver.Consumer.
func (r *receiver) Close(ctx context.Context) error {
	r.session.Forget(r)
	return r.Shut(ctx)
}
