package resp

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"sixnines/driver"
)

// Producers are those of a session. The ones that share a connection share a
// sender on it: a pipeline, or a client library.
type Producers struct {
	session *Session
	verb    string
	senders *Pool[int, sender] // by the number of the connection

	// Of pipelines whose replies are read late: a bit for each with replies to come.
	unanswered atomic.Uint64
	late       [64]atomic.Pointer[Pipeline]
}

// Look takes replies that have come on pipelines whose replies are read late. It is
// for a thread that has just handed a message over to a consumer: the reply to its
// publish is there by then, and is not worth a thread of its own.
func (ps *Producers) Look() {
	for w := ps.unanswered.Load(); w != 0; w &= w - 1 {
		if p := ps.late[bits.TrailingZeros64(w)].Load(); p != nil {
			p.look()
			p.looked.Store(true)
		}
	}
}

// NewProducers returns a session's, none as yet. The verb says in errors what
// they do: "publish". Pipelines have the options. Each sender has a watch of its
// own, made for the name of the connection.
func NewProducers(s *Session, verb string, o PipelineOptions, watch func(name string) Watch) *Producers {
	ps := &Producers{session: s, verb: verb}
	ps.senders = NewPool(s.Client.Driver, func(ctx context.Context, conn int) (out sender, err error) {
		name := fmt.Sprintf("producer-%d", conn)
		switch s.Client.Via {
		case GoRedis:
			out, err = s.Client.goRedisSender(ctx, name, watch(name))
		case Redigo:
			out, err = s.Client.redigoSender(ctx, name, o.Buffer, watch(name))
		default:
			out, err = ps.pipeline(ctx, conn, name, o, watch(name))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Client.Driver, err)
		}
		return out, nil
	})
	return ps
}

// pipeline connects the pipeline with the number and name.
func (ps *Producers) pipeline(ctx context.Context, conn int, name string, o PipelineOptions, w Watch) (*Pipeline, error) {
	if conn >= len(ps.late) {
		o.Late = nil
	}
	p, err := ps.session.Client.Pipeline(ctx, name, o, w)
	if err == nil && p.late.Load() {
		ps.late[conn].Store(p)
		p.mark(&ps.unanswered, 1<<conn)
	}
	return p, err
}

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	of      *Producers
	conn    int
	out     sender
	to      string
	command *Command
	limit   int    // largest payload in bytes; 0: unknown
	setting string // that sets it
	acks    driver.Acks
	closed  atomic.Bool
}

// Add returns a producer that sends to the channel or key called to by the command.
func (ps *Producers) Add(ctx context.Context, spec driver.ProducerSpec, to string, command *Command, acks driver.Acks) (driver.Producer, error) {
	s := ps.session
	if err := s.Check(spec.Size); err != nil {
		return nil, err
	}
	out, err := ps.senders.Acquire(ctx, spec.Conn)
	if err != nil {
		return nil, err
	}
	p := &producer{of: ps, conn: spec.Conn, out: out, to: to, command: command, acks: acks}
	limit, setting := s.Server().Limit()
	p.limit, p.setting = int(limit), setting
	if out.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

// Close closes all senders at the same time, and lets no more be made.
func (ps *Producers) Close(ctx context.Context) { ps.senders.Close(ctx) }

func (p *producer) wrap(err error) error {
	return p.of.session.Wrap(err, "%s to %q", p.of.verb, p.to)
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	if p.limit > 0 && len(payload) > p.limit {
		return p.of.session.Wrap(fmt.Errorf("%w: the server's %s is %d", driver.ErrTooLarge, p.setting, p.limit),
			"%s %d bytes", p.of.verb, len(payload))
	}
	if err := p.out.Send(token, p.acks, p.command, payload); err != nil {
		return p.wrap(err)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return p.of.session.Wrap(driver.ErrClosed, "wait for the server")
	}
	if err := p.out.Sync(ctx); err != nil {
		return p.of.session.Wrap(err, "wait for the server to have read what was sent to %q", p.to)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer,
// when the server has answered.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	return p.of.senders.Release(ctx, p.conn, p.out)
}

// batching is a producer that implements driver.Flusher as well. One that writes
// at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (b batching) Flush() error {
	if b.closed.Load() {
		return b.of.session.Wrap(driver.ErrClosed, "flush")
	}
	if err := b.out.Flush(); err != nil {
		return b.of.session.Wrap(err, "flush what was sent to %q", b.to)
	}
	return nil
}
