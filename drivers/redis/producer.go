package redis

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// outlet is a connection of producers.
type outlet struct {
	*resp.Pipeline
	session *session
	name    string
	unheard int // publishes that reached nobody, since somebody last was; the reader's
}

func (s *session) outlet(ctx context.Context, conn int) (*outlet, error) {
	o := &outlet{session: s, name: fmt.Sprintf("producer-%d", conn)}
	p, err := s.client.Pipeline(ctx, o.name,
		resp.PipelineOptions{Buffer: s.writeBuffer, Silent: s.options.Acks == none}, (*audience)(o))
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	o.Pipeline = p
	return o, nil
}

// audience is an outlet as it sees the answers to its publishes.
type audience outlet

// Reply implements resp.Watch: an integer is the number of subscribers. That
// there are none is no failure of the publish.
func (a *audience) Reply(kind byte, n int64) error {
	if kind == resp.Integer {
		if n == 0 {
			a.unheard++
		} else if a.unheard > 0 {
			a.tell()
		}
	}
	return nil
}

// Lost implements resp.Watch.
func (a *audience) Lost() {
	if a.unheard > 0 {
		a.tell()
	}
}

// tell reports publishes that reached nobody: an event for each stretch of them,
// not for each of them.
func (a *audience) tell() {
	if a.session.awaited.Load() {
		a.session.client.Notify(driver.Event{Kind: driver.Returned, Detail: a.name + ": published to no subscriber", Count: a.unheard})
	}
	a.unheard = 0
}

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	conn    int
	out     *outlet
	channel string
	head    []byte // of its frames
	limit   int    // largest payload in bytes; 0: unknown
	setting string // that sets it
	acks    driver.Acks
	closed  atomic.Bool
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	channel, err := s.channel(spec.Topic)
	if err != nil {
		return nil, err
	}
	server := s.known()
	if err := server.Check(spec.Size); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	out, err := s.producers.Acquire(ctx, spec.Conn, func(ctx context.Context) (*outlet, error) { return s.outlet(ctx, spec.Conn) })
	if err != nil {
		return nil, err
	}
	command := "PUBLISH"
	if s.options.Sharded {
		command = "SPUBLISH"
	}
	p := &producer{session: s, conn: spec.Conn, out: out, channel: channel, acks: acks,
		head: resp.AppendWord(resp.AppendWord(resp.AppendWords(nil, 3), command), channel)}
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
		return wrap(driver.ErrClosed, "publish to %q", p.channel)
	}
	if p.limit > 0 && len(payload) > p.limit {
		return fmt.Errorf("redis: publish %d bytes: %w: the server's %s is %d", len(payload), driver.ErrTooLarge, p.setting, p.limit)
	}
	if err := p.out.Send(token, p.acks, p.head, payload); err != nil {
		return wrap(err, "publish to %q", p.channel)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return wrap(driver.ErrClosed, "wait for the server")
	}
	if err := p.out.Sync(ctx); err != nil {
		return wrap(err, "wait for the server to have read what was published to %q", p.channel)
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
		return wrap(err, "flush what was published to %q", b.channel)
	}
	return nil
}
