package mqtt

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	link    *link
	topic   string
	flags   byte   // of its PUBLISH packets
	user    []byte // their user properties; nil: none
	headers []driver.Header
	acks    driver.Acks
	closed  atomic.Bool

	// Of the goroutine that sends.
	aliases  *aliases // of the connection that alias is valid on
	alias    uint16   // 0: none
	message5 *message5
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	topic, err := s.topic(spec.Topic)
	if err != nil {
		return nil, err
	}
	key := kit.Key{Role: kit.Producer, Conn: spec.Conn}
	l, err := s.links.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, link: l, topic: topic, acks: acks, headers: spec.Headers,
		user: userProperties(spec.Headers), flags: byte(s.options.QoS) << 1}
	if s.options.Retain {
		p.flags |= flagRetain
	}
	if c := l.Live(); c != nil {
		g := c.limits()
		err = p.fits(g, spec.Size)
		if most := g.maximumQoS; s.options.QoS > most {
			err = fmt.Errorf("mqtt: publish with quality of service %d: %w: the broker's maximum is %d", s.options.QoS, driver.ErrUnsupported, most)
		} else if s.options.Retain && !g.retain {
			err = fmt.Errorf("mqtt: publish retained messages: %w: the broker keeps none", driver.ErrUnsupported)
		}
		if err != nil {
			s.links.Release(ctx, key, l)
			return nil, err
		}
	}
	if s.writeBuffer > 1 {
		return batching{p}, nil
	}
	return p, nil
}

// qos returns the quality of service of what is published.
func (p *producer) qos() byte { return p.flags >> 1 & 3 }

// fits returns an error if the broker does not take packets as large as one with
// a payload of size bytes.
func (p *producer) fits(g *greeting, size int) error {
	n := publication{v5: p.link.v5, flags: p.flags, topic: p.topic, user: p.user}.size(size)
	if n > maxRemaining {
		return fmt.Errorf("mqtt: payloads of %d bytes: %w: MQTT carries packets of up to %d", size, driver.ErrTooLarge, maxRemaining)
	}
	if most := g.maximumPacket; most > 0 && n+5 > most {
		return fmt.Errorf("mqtt: payloads of %d bytes: %w: the broker's maximum packet size is %d", size, driver.ErrTooLarge, most)
	}
	return nil
}

// name returns how the topic is called on the connection of the aliases: by its
// name, which may get an alias by it, or by the alias that it has.
func (p *producer) name(a *aliases) (topic string, alias uint16) {
	if !p.session.options.TopicAlias {
		return p.topic, 0
	}
	if p.aliases == a {
		if p.alias == 0 {
			return p.topic, 0
		}
		return "", p.alias
	}
	p.aliases, p.alias = a, a.next()
	return p.topic, p.alias
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() || p.link.Closing() {
		return p.failed(driver.ErrClosed)
	}
	c := p.link.Live()
	if c == nil {
		return p.failed(p.link.Absent())
	}
	if err := p.fits(c.limits(), len(payload)); err != nil {
		return err
	}
	if err := c.send(p, token, payload); err != nil {
		return p.failed(err)
	}
	return nil
}

func (p *producer) failed(err error) error {
	if p.closed.Load() || p.link.Closing() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return fmt.Errorf("mqtt: publish to %q: %w", p.topic, err)
}

// Sync implements driver.Syncer. Of quality of service 2 the broker has read
// messages, but does not have them before they are released.
func (p *producer) Sync(ctx context.Context) error {
	c := p.link.Live()
	if c == nil || p.closed.Load() {
		return p.failed(p.link.Absent())
	}
	synced := make(chan error, 1)
	go func() { synced <- c.sync(ctx, p.qos() == 2) }()
	var err error
	select {
	case err = <-synced:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("mqtt: wait for the broker to have what was sent to %q: %w: %w", p.topic, driver.ErrTimeout, context.Cause(ctx))
	}
	return p.failed(err)
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing. The direct client
// alone has batches.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	c := p.link.Live()
	if c == nil || p.closed.Load() {
		return p.failed(p.link.Absent())
	}
	if err := c.connection.(*wire).writer.Flush(); err != nil {
		return p.failed(err)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last
// producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.links.Release(ctx, p.link.key, p.link)
	}
	return nil
}
