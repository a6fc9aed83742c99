package rabbitmq

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session  *session
	sender   *sender
	key      senderKey
	topic    string
	envelope wire.Envelope
	acks     driver.Acks
	closed   atomic.Bool
	replies  *kit.Gate // nil: not a requester

	unroutable, refused error // made once

	prepared wire.Prepared // for the channelState on
	on       *channelState
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks, nil)
	if err != nil {
		return nil, err
	}
	return s.flushing(p), nil
}

// flushing returns p as a driver.Flusher, if it has anything to flush.
func (s *session) flushing(p *producer) driver.Producer {
	if s.options.Transaction > 0 || s.options.Client == direct && s.Config.WriteBuffer > 1 {
		return batching{p}
	}
	return p
}

// producer connects one whose answers go to replies, if that is not nil.
func (s *session) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies *kit.Gate) (*producer, error) {
	if err := s.checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	p := &producer{session: s, topic: spec.Topic, acks: acks, envelope: s.topology.envelope(spec.Topic), replies: replies,
		unroutable: fmt.Errorf("rabbitmq: send to %q: %w: it leads to no queue, and the broker gave it back", spec.Topic, driver.ErrNoTopic),
		refused:    fmt.Errorf("rabbitmq: send to %q: %w: basic.nack", spec.Topic, driver.ErrRejected)}
	if len(spec.Headers) > 0 {
		table := wire.Table{}
		maps.Copy(table, p.envelope.Headers)
		for _, h := range spec.Headers {
			table[h.Name] = h.Value
		}
		p.envelope.Headers = table
	}
	index := -1 - spec.ID // of its own
	if n := s.options.Channels; n > 0 && replies == nil {
		index = spec.ID % n
	}
	p.key = senderKey{kit.Key{Role: kit.Producer, Conn: spec.Conn}, index}
	l, err := s.links.Acquire(ctx, p.key.link)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	o, joined := s.senders[p.key]
	if !joined {
		o = &sender{link: l}
		s.senders[p.key] = o
	}
	o.users++
	s.mu.Unlock()
	p.sender = o
	if replies != nil {
		p.envelope.ReplyTo = replyQueue
		err = l.Join(ctx, p)
	} else if !joined {
		err = l.Join(ctx, o)
	}
	if err != nil {
		p.Close(ctx)
		return nil, wrap(s.Over(err), "producer of %q", spec.Topic)
	}
	return p, nil
}

// Attach implements kit.Member, for requesters.
func (p *producer) Attach(ctx context.Context, w *rabbit.Wire[connection]) error {
	return p.sender.attachWith(ctx, w, p.replies)
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	if err := p.sender.send(p, token, payload); err != nil {
		return p.wrap(err)
	}
	return nil
}

func (p *producer) wrap(err error) error {
	if p.sender.link.Closing() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return wrap(err, "send to %q", p.topic)
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	if err := p.sender.sync(ctx); err != nil {
		return wrap(err, "wait for the broker to have read what was sent to %q", p.topic)
	}
	return nil
}

// batching is a producer that implements driver.Flusher as well. A producer
// that writes at once does not: it would be called for nothing.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	if p.closed.Load() {
		return p.wrap(driver.ErrClosed)
	}
	if err := p.sender.flush(); err != nil {
		return p.wrap(err)
	}
	return nil
}

// Close implements driver.Producer. The channel and the connection end with
// their last producer.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	s := p.session
	s.mu.Lock()
	p.sender.users--
	last := p.sender.users == 0 && s.senders[p.key] == p.sender
	if last {
		delete(s.senders, p.key)
	}
	s.mu.Unlock()
	if last {
		if p.replies != nil {
			p.sender.link.Part(p)
		} else {
			p.sender.link.Part(p.sender)
		}
		if now := p.sender.now.Swap(nil); now != nil {
			grace, cancel := kit.Grace(ctx)
			now.channel.Close(grace) // the connection may go on without it
			cancel()
			now.end(driver.ErrClosed)
		}
	}
	if p.replies != nil {
		if err := wrap(p.replies.Shut(ctx), "close a requester"); err != nil {
			return err
		}
	}
	s.links.Release(ctx, p.key.link, p.sender.link)
	return nil
}
