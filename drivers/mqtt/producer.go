package mqtt

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
)

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	link    *link
	topic   string
	flags   byte   // of its PUBLISH packets
	user    []byte // their user properties; nil: none
	acks    driver.Acks
	closed  atomic.Bool

	wire  *wire  // that alias is valid on, guarded by its writing
	alias uint16 // 0: none
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	topic, err := s.topic(spec.Topic)
	if err != nil {
		return nil, err
	}
	key := linkKey{roleProducer, spec.Conn}
	l, err := s.links.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, link: l, topic: topic, acks: acks, user: userProperties(spec.Headers), flags: byte(s.options.QoS) << 1}
	if s.options.Retain {
		p.flags |= flagRetain
	}
	if w := l.live.Load(); w != nil {
		err = p.fits(w, spec.Size)
		if most := w.welcome.maximumQoS; s.options.QoS > most {
			err = fmt.Errorf("mqtt: publish with quality of service %d: %w: the broker's maximum is %d", s.options.QoS, driver.ErrUnsupported, most)
		} else if s.options.Retain && !w.welcome.retain {
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

// fits returns an error if the broker does not take packets as large as one with
// a payload of size bytes.
func (p *producer) fits(w *wire, size int) error {
	n := publication{v5: p.link.v5, flags: p.flags, topic: p.topic, user: p.user}.size(size)
	if n > maxRemaining {
		return fmt.Errorf("mqtt: payloads of %d bytes: %w: MQTT carries packets of up to %d", size, driver.ErrTooLarge, maxRemaining)
	}
	if most := w.welcome.maximumPacket; most > 0 && n+5 > most {
		return fmt.Errorf("mqtt: payloads of %d bytes: %w: the broker's maximum packet size is %d", size, driver.ErrTooLarge, most)
	}
	return nil
}

// name returns how the topic is called on w: by its name, which may get an
// alias by it, or by the alias that it has. w.writing is held.
func (p *producer) name(w *wire) (topic string, alias uint16) {
	if !p.session.options.TopicAlias {
		return p.topic, 0
	}
	if p.wire == w {
		if p.alias == 0 {
			return p.topic, 0
		}
		return "", p.alias
	}
	p.wire, p.alias = w, 0
	if w.aliases < w.welcome.aliases {
		w.aliases++
		p.alias = uint16(w.aliases)
	}
	return p.topic, p.alias
}

// Send implements driver.Producer. Without acknowledgements the packet has been
// written or copied when it returns, so that Done comes inside it.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() || p.link.closing.Load() {
		return p.failed(driver.ErrClosed)
	}
	w := p.link.live.Load()
	if w == nil {
		return p.failed(driver.ErrNotConnected)
	}
	if err := p.fits(w, len(payload)); err != nil {
		return err
	}
	if p.flags&6 == 0 {
		if err := w.publish(p, 0, payload); err != nil {
			return p.failed(err)
		}
		p.acks.Done(token, nil)
		return nil
	}
	id, err := w.reserve(p.acks, token)
	if err != nil {
		return p.failed(err)
	}
	if err := w.publish(p, id, payload); err != nil {
		// The end of the wire may have resolved it already.
		if _, ours := w.release(id); ours {
			return p.failed(err)
		}
	}
	return nil
}

func (p *producer) failed(err error) error {
	if p.closed.Load() || p.link.closing.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return fmt.Errorf("mqtt: publish to %q: %w", p.topic, err)
}

// Sync implements driver.Syncer. Of quality of service 2 the broker has read
// messages, but does not have them before they are released.
func (p *producer) Sync(ctx context.Context) error {
	w := p.link.live.Load()
	if w == nil || p.closed.Load() {
		return p.failed(driver.ErrNotConnected)
	}
	answered, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- w.ping(answered) }() // a write may be stuck
	select {
	case err := <-failed:
		if err != nil {
			return p.failed(err)
		}
	case <-ctx.Done():
		return p.unsynced(ctx)
	}
	select {
	case <-answered:
	case <-ctx.Done():
		return p.unsynced(ctx)
	}
	if p.flags&6 == 2<<1 {
		if empty := w.empty(); empty != nil {
			select {
			case <-empty:
			case <-ctx.Done():
				return p.unsynced(ctx)
			}
		}
	}
	if w.over() {
		return p.failed(driver.ErrNotConnected)
	}
	return nil
}

func (p *producer) unsynced(ctx context.Context) error {
	return fmt.Errorf("mqtt: wait for the broker to have what was sent to %q: %w: %w", p.topic, driver.ErrTimeout, context.Cause(ctx))
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	w := p.link.live.Load()
	if w == nil || p.closed.Load() {
		return p.failed(driver.ErrNotConnected)
	}
	if err := w.flush(); err != nil {
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
