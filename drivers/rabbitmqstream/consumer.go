package rabbitmqstream

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// consumer implements driver.Consumer. It has a subscription for each of its
// topics.
type consumer struct {
	session *session
	link    *link
	key     linkKey
	name    string // under which offsets are stored
	id      int
	all     bool // it begins with what there is
	every   int  // store the offset after this many messages; 0: never
	gate    *kit.Gate
	deliver driver.Deliver
	backlog *kit.Backlog[delivery] // nil: messages are handed over where they are read
	closed  atomic.Bool
	parts   []*part
}

// part is a consumer's subscription to one stream. It implements
// kit.Member and wire.Subscriber.
type part struct {
	consumer *consumer
	stream   string
	now      atomic.Pointer[receiver]
	// place is where it is, for the depth of the stream, one more than the offset of
	// the next message; 0: not known. Depth must not wait for a running Deliver.
	place atomic.Uint64

	// Guarded by the gate's lock.
	next  uint64 // offset to go on from; 0: nothing has come yet
	count int    // messages since the offset was stored
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if spec.Group != "" {
		return nil, fmt.Errorf("rabbitmq-stream: consumer of group %q: %w: each consumer of a stream gets every message", spec.Group, driver.ErrUnsupported)
	}
	s.mu.Lock()
	all := s.topology.Existing || s.topology.Late || s.options.Offset == "first"
	s.mu.Unlock()
	c := &consumer{session: s, id: spec.ID, all: all, key: linkKey{Key: kit.Key{Role: kit.Consumer, Conn: spec.Conn}}, gate: kit.NewGate(nil), deliver: deliver,
		name: s.own(fmt.Sprintf("consumer-%d", spec.ID)), every: s.options.StoreEvery}
	switch spec.Ack.Mode {
	case driver.AckNone:
		c.every = 0
	case driver.AckEach:
		c.every = 1
	case driver.AckEvery:
		c.every = max(spec.Ack.Every, 1)
	}
	for _, topic := range spec.Topics {
		if err := checkName("topic", topic); err != nil {
			return nil, err
		}
		c.parts = append(c.parts, &part{consumer: c, stream: s.stream(topic)})
	}
	var err error
	if c.link, err = s.links.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	if spec.Slow && s.options.Client == direct {
		// A slow callback delays the connection's other consumers. The library has a
		// goroutine for each.
		c.backlog = kit.NewBacklog(c.catchUp)
	}
	for _, p := range c.parts {
		if s.options.Offset == "next" && !all {
			end, wrong := s.end(ctx, p.stream)
			if err = wrong; err != nil {
				break
			}
			p.place.Store(end + 1)
		} else if all {
			p.place.Store(1)
		}
		if err = c.link.Join(ctx, p); err != nil {
			break
		}
	}
	if err == nil {
		_, err = s.Keep(c)
	}
	if err != nil {
		c.Close(ctx)
		return nil, wrap(s.Over(err), "subscribe to %q", spec.Topics)
	}
	s.mu.Lock()
	s.consumers[c.id] = c
	s.mu.Unlock()
	return c, nil
}

// Attach implements kit.Member. A consumer goes on where it was.
func (p *part) Attach(ctx context.Context, w *rabbit.Wire[connection]) error {
	o := &p.consumer.session.options
	from := subscription{stream: p.stream, name: p.consumer.name, place: o.place(), credits: o.Credit}
	p.consumer.gate.Lock()
	from.offset = p.next
	p.consumer.gate.Unlock()
	switch {
	case from.offset > 0:
		from.place = wire.Offset
	case p.consumer.all:
		from.place = wire.First
	}
	var to wire.Subscriber = p
	if p.consumer.backlog != nil {
		to = keeper{p}
	}
	in, err := w.Conn.subscribe(ctx, from, to)
	if err != nil {
		return wrap(err, "subscribe to %q", p.stream)
	}
	p.now.Store(&in)
	return nil
}

// Deliver implements wire.Subscriber.
func (p *part) Deliver(offset uint64, body []byte) {
	if b := p.consumer.backlog; b != nil {
		b.Add(delivery{part: p, offset: offset, body: append([]byte(nil), body...)})
		return
	}
	p.deliver(offset, body, false)
}

// keeper is a part of a slow consumer. It implements wire.Keeper: the server sends no more
// ahead of it than ahead of others.
type keeper struct{ *part }

// Behind implements wire.Keeper.
func (k keeper) Behind(credit func()) { k.consumer.backlog.Add(delivery{credit: credit}) }

// delivery is a copy of one, for a slow consumer.
type delivery struct {
	part   *part
	offset uint64
	body   []byte
	credit func() // not nil: no delivery, but the end of a chunk
}

// catchUp takes a delivery that had to wait.
func (c *consumer) catchUp(d delivery) {
	switch {
	case c.closed.Load():
	case d.credit != nil:
		d.credit()
	default:
		d.part.deliver(d.offset, d.body, true)
	}
}

// deliver hands a message over, and stores the offset if that is due, at once if
// now.
func (p *part) deliver(offset uint64, body []byte, now bool) {
	c := p.consumer
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() || offset < p.next { // the latter comes twice over two connections
		return
	}
	c.deliver(driver.Message{Payload: body})
	p.next = offset + 1
	p.place.Store(p.next + 1)
	if c.every == 0 {
		return
	}
	if p.count++; p.count >= c.every {
		p.store(now)
	}
}

// store stores the offset of the last message, or leaves that to the next one while
// there is no connection. That it fails means that the connection is lost, and the
// next one is stored by another.
func (p *part) store(now bool) {
	if in := p.now.Load(); in != nil {
		(*in).Store(p.consumer.name, p.next-1, now)
		p.count = 0
	}
}

// End implements wire.Subscriber.
func (p *part) End(why error) {
	p.now.Store(nil)
	if !p.consumer.closed.Load() {
		p.consumer.link.Ended(why)
	}
}

// Shut implements kit.Part: it lets nothing be delivered any more. It waits for a running
// Deliver, at most until ctx ends.
func (c *consumer) Shut(ctx context.Context) error {
	if c.backlog != nil {
		defer c.backlog.Stop()
	}
	return wrap(c.gate.Shut(ctx), "close a consumer")
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	first := c.closed.CompareAndSwap(false, true)
	err := c.Shut(ctx)
	if !first {
		return err
	}
	s := c.session
	s.Forget(c)
	s.mu.Lock()
	delete(s.consumers, c.id)
	s.mu.Unlock()
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	for _, p := range c.parts {
		c.link.Part(p)
		in := p.now.Load()
		if in == nil || err != nil {
			continue
		}
		c.gate.Lock()
		if p.count > 0 {
			p.store(true)
		}
		c.gate.Unlock()
		(*in).Close(grace) // the connection may go on without it
	}
	s.links.Release(ctx, c.key, c.link)
	return err
}
