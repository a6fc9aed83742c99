package nanomsg

import (
	"context"
	"errors"
	"fmt"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// producer implements driver.Producer. What it is given has been copied, and
// written unless the library queues it, when Send returns.
type producer struct{ *mesh.Producer[*node] }

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Connect(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	return producer{p}, nil
}

// Send implements driver.Producer.
func (p producer) Send(token uint64, payload []byte) error {
	if p.Closed.Load() || p.Socket.isClosed() {
		return p.Sent(token, driver.ErrClosed)
	}
	m := mangos.NewMessage(len(p.Head) + len(payload))
	m.Body = append(append(m.Body, p.Head...), payload...)
	return p.Sent(token, p.Socket.send(m))
}

// send sends m, which is no longer the caller's.
func (n *node) send(m *mangos.Message) error {
	err := n.sock.SendMsg(m)
	switch {
	case err == nil:
		return nil
	case n.isClosed():
		return driver.ErrClosed // whatever the dying connection said
	case errors.Is(err, errNoPeers), errors.Is(err, mangos.ErrNoPeers):
		return mesh.ErrNobody
	}
	// It may have been written in part, or in full.
	return fmt.Errorf("%w: %w: %w", driver.ErrTimeout, driver.ErrNotConnected, err)
}
