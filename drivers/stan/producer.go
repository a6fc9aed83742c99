package stan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// producer implements driver.Producer.
type producer struct {
	session *session
	link    *link
	key     kit.Key
	channel string
	acks    driver.Acks
	closed  atomic.Bool
	idle    sync.Pool // of *sending
}

// sending is a message on its way. It is used again, so that neither it nor the
// handler that the library wants is made for each message.
type sending struct {
	producer *producer
	token    uint64
	handler  client.AckHandler
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	channel := s.channel(spec.Topic)
	if err := s.carries(channel, spec.Size); err != nil {
		return nil, err
	}
	p := &producer{session: s, key: kit.Key{Role: kit.Producer, Conn: spec.Conn}, channel: channel, acks: acks}
	var err error
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	p.idle.New = func() any {
		m := &sending{producer: p}
		m.handler = m.done
		return m
	}
	return p, nil
}

// carries refuses payloads that do not fit into a message of NATS together with
// what the protocol adds: client, channel, and less than 128 bytes.
func (s *session) carries(channel string, size int) error {
	limit := s.wire.Control().Conn().MaxPayload()
	overhead := len(s.name) + len(channel) + 128
	if int64(size+overhead) > limit {
		return fmt.Errorf("stan: payloads of %d bytes: %w: the server's max_payload is %d, and the protocol needs up to %d of it",
			size, driver.ErrTooLarge, limit, overhead)
	}
	return nil
}

// Send implements driver.Producer. The library copies the payload.
func (p *producer) Send(token uint64, payload []byte) error {
	r := p.link.Live()
	if r == nil || p.closed.Load() {
		return p.failed(p.link.Absent())
	}
	m := p.idle.Get().(*sending)
	m.token = token
	_, err := r.conn.PublishAsync(p.channel, payload, m.handler)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrConnectionClosed):
		// Its word for a message that was not sent, and for one that was.
		m.done("", err)
		return nil
	}
	p.idle.Put(m)
	return p.failed(err)
}

// done is the library's AckHandler. It is called once, unless PublishAsync has
// returned an error.
func (m *sending) done(_ string, err error) {
	p := m.producer
	if err != nil {
		err = p.failed(err)
	}
	p.acks.Done(m.token, err)
	p.idle.Put(m)
}

func (p *producer) failed(err error) error {
	if (p.link.Closing() || p.closed.Load()) && failures().ClassOf(err) != driver.ErrRejected {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return wrap(err, "send to %q", p.channel)
}

// Close implements driver.Producer. The connection ends with its last
// producer; what is unanswered then is done with ErrClosed.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.links.Release(ctx, p.key, p.link)
	}
	return nil
}
