package resp

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// link is what the producers of a connection share.
type link = kit.Link[Pipeline, *Pipeline]

// Producers are those of a session. The ones that share a connection share a link, and on
// it a pipeline.
type Producers struct {
	session *Session
	verb    string
	options PipelineOptions
	watch   func(name string) Watch
	links   *kit.Pool[LinkKey, *link]

	late lates
}

// Look takes replies that have come on pipelines whose replies are read late. It is
// for a thread that has just handed n messages over to a consumer: the replies to their
// publishes are there by then, and are not worth a thread of their own. Those that were
// published before are looked for first, and of no more pipelines than messages were
// delivered to everybody: a look at one whose message is still on its way costs a system
// call for nothing.
func (ps *Producers) Look(n int) { ps.late.look(n) }

// NewProducers returns a session's, none as yet. The verb says in errors what
// they do: "publish". Pipelines have the options. Each link has a watch of its
// own, made for the name of the connection.
func NewProducers(s *Session, verb string, o PipelineOptions, watch func(name string) Watch) *Producers {
	ps := &Producers{session: s, verb: verb, options: o, watch: watch}
	ps.links = kit.NewPool(s.Driver, ps.connect, func(ctx context.Context, l *link) { _ = l.Close(ctx) })
	return ps
}

// connect connects what the producers of a connection share.
func (ps *Producers) connect(ctx context.Context, key LinkKey) (*link, error) {
	w, first := ps.watch(key.String()), true
	var l *link
	l = NewLink[Pipeline](ps.session.Client, key.Role, key.To, key.String(), func(c *Conn) (*Pipeline, error) {
		// Only the first connection's time stamps are used, not those of its successors.
		p, err := ps.pipeline(l.Life(), c, key.Conn, first, w, func(e driver.Event) { l.Emit(e) })
		if err == nil {
			first = false
		}
		return p, err
	})
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// pipeline returns that of the connection with the number, which may be read late. In a cluster it is not: another
// connection may take its place, and one of another topic has the same number.
func (ps *Producers) pipeline(life context.Context, c *Conn, conn int, mayLate bool, w Watch, emit func(driver.Event)) (*Pipeline, error) {
	cl, o := ps.session.Client, ps.options
	p, err := newPipeline(life, cl, c, o.Silent, w, emit)
	if err != nil {
		return nil, err
	}
	mayLate = mayLate && cl.cluster == nil && conn < len(ps.late.pipelines) && cl.Via == Direct && !cl.batches() && !o.Silent && o.Late != nil
	if from, ok := c.Late(); ok && mayLate && o.Late() {
		p.readLate(from, &ps.late, conn)
	}
	return p, nil
}

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	of      *Producers
	key     LinkKey
	link    *link
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
	key := s.LinkKey(kit.Key{Role: kit.Producer, Conn: spec.Conn}, to)
	l, err := ps.links.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &producer{of: ps, key: key, link: l, to: to, command: command, acks: acks}
	limit, setting := s.Server().Limit()
	p.limit, p.setting = int(limit), setting
	if s.batches() {
		return batching{p}, nil
	}
	return p, nil
}

// Close closes all links at the same time, and lets no more be made.
func (ps *Producers) Close(ctx context.Context) { ps.links.Close(ctx) }

// live returns the pipeline of now.
func (p *producer) live() (*Pipeline, error) {
	if p.closed.Load() {
		return nil, driver.ErrClosed
	}
	if pipe := p.link.Live(); pipe != nil {
		return pipe, nil
	}
	return nil, p.link.Absent()
}

// failed is the error of what could not be done.
func (p *producer) failed(err error, format string, args ...any) error {
	if p.link.Closing() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return p.of.session.Wrap(err, format, args...)
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.limit > 0 && len(payload) > p.limit {
		return p.of.session.Wrap(fmt.Errorf("%w: the server's %s is %d", driver.ErrTooLarge, p.setting, p.limit),
			"%s %d bytes", p.of.verb, len(payload))
	}
	pipe, err := p.live()
	if err == nil {
		err = pipe.Send(token, p.acks, p.command, payload)
	}
	if err != nil {
		return p.failed(err, "%s to %q", p.of.verb, p.to)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	pipe, err := p.live()
	if err == nil {
		err = pipe.Sync(ctx)
	}
	if err != nil {
		return p.failed(err, "wait for the server to have read what was sent to %q", p.to)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer,
// when the server has answered.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.of.links.Release(ctx, p.key, p.link)
	}
	return nil
}

// batching is a producer that implements driver.Flusher as well. One that writes
// at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (b batching) Flush() error {
	pipe, err := b.live()
	if err == nil {
		err = pipe.Flush()
	}
	if err != nil {
		return b.failed(err, "flush what was sent to %q", b.to)
	}
	return nil
}
