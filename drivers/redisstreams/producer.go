package redisstreams

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// identifiers is the resp.Watch of XADD, which answers with an identifier.
type identifiers struct{}

// Reply implements resp.Watch. PING, which asks whether all was read, is answered
// by a status.
func (identifiers) Reply(kind byte, n int64) error {
	if kind == resp.Bulk && n > 0 || kind == resp.Status {
		return nil
	}
	return fmt.Errorf("redis-streams: %w: the server answers an XADD with no identifier", driver.ErrRejected)
}

// Lost implements resp.Watch.
func (identifiers) Lost() {}

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	conn    int
	out     *resp.Pipeline
	key     string
	head    []byte // of its frames
	limit   int    // largest payload in bytes; 0: unknown
	setting string // that sets it
	acks    driver.Acks
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	key, err := s.key(spec.Topic)
	if err != nil {
		return nil, err
	}
	server := s.known()
	if err := server.Check(spec.Size); err != nil {
		return nil, fmt.Errorf("redis-streams: %w", err)
	}
	out, err := s.producers.Acquire(ctx, spec.Conn, func(ctx context.Context) (*resp.Pipeline, error) {
		p, err := s.client.Pipeline(ctx, fmt.Sprintf("producer-%d", spec.Conn), resp.PipelineOptions{Buffer: s.writeBuffer}, identifiers{})
		if err != nil {
			return nil, fmt.Errorf("redis-streams: %w", err)
		}
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, conn: spec.Conn, out: out, key: key, acks: acks, head: s.options.head(key)}
	limit, setting := server.Limit()
	p.limit, p.setting = int(limit), setting
	if out.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return wrap(driver.ErrClosed, "add to %q", p.key)
	}
	if p.limit > 0 && len(payload) > p.limit {
		return fmt.Errorf("redis-streams: add %d bytes: %w: the server's %s is %d", len(payload), driver.ErrTooLarge, p.setting, p.limit)
	}
	if err := p.out.Send(token, p.acks, p.head, payload); err != nil {
		return wrap(err, "add to %q", p.key)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return wrap(driver.ErrClosed, "wait for the server")
	}
	if err := p.out.Sync(ctx); err != nil {
		return wrap(err, "wait for the server to have read what was added to %q", p.key)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer,
// when the server has answered.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	return p.session.producers.Release(ctx, p.conn, p.out)
}

// batching is a producer that implements driver.Flusher as well. One that writes
// at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (b batching) Flush() error {
	if b.closed.Load() {
		return wrap(driver.ErrClosed, "flush")
	}
	if err := b.out.Flush(); err != nil {
		return wrap(err, "flush what was added to %q", b.key)
	}
	return nil
}
