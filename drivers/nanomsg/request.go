package nanomsg

import (
	"context"
	"encoding/binary"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// requester implements driver.Producer. It has a socket of its own, on which the
// replies come, too.
type requester struct {
	*receiver
	mesh.Sending
	number uint32 // of the last request: the library's raw sockets want one
}

// Requester implements driver.RequestReplier.
func (s *session) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	r, to, err := s.Request(ctx, spec, acks, replies)
	if err != nil {
		return nil, err
	}
	return &requester{receiver: r, Sending: to}, nil
}

// Send implements driver.Producer.
func (r *requester) Send(token uint64, payload []byte) error {
	if r.isClosed() {
		return r.Sent(token, driver.ErrClosed)
	}
	m := mangos.NewMessage(len(payload))
	m.Body = append(m.Body, payload...)
	if !r.session.options.direct() {
		if r.alone() { // the library would wait for one
			m.Free()
			return r.Sent(token, mesh.ErrNobody)
		}
		r.number++
		m.Header = binary.BigEndian.AppendUint32(m.Header, r.number|lastOfHeader<<24)
	}
	return r.Sent(token, r.send(m))
}
