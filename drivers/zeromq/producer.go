//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// producer implements driver.Producer. libzmq copies what it is given.
type producer struct{ *mesh.Producer[*link] }

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
	if p.Closed.Load() {
		return p.Sent(token, driver.ErrClosed)
	}
	return p.Sent(token, p.Socket.send(p.Head, payload))
}
