package stan

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
)

// producer implements driver.Producer.
type producer struct {
	link    *link
	channel string
	acks    driver.Acks
	closed  atomic.Bool

	// Of the goroutine that sends, for the registration that they were made for.
	made    *streaming
	subject string
	head    []byte // what its messages begin with
	message []byte // reused
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	channel, err := s.channel(spec.Topic)
	if err != nil {
		return nil, err
	}
	key := linkKey{roleProducer, spec.Conn}
	l, err := s.links.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &producer{link: l, channel: channel, acks: acks}
	if st := l.live.Load(); st != nil {
		if err := s.carries(st, channel, spec.Size); err != nil {
			s.links.Release(ctx, key, l)
			return nil, err
		}
	}
	return p, nil
}

// carries refuses payloads that do not fit into a message of NATS together with
// what the protocol adds.
func (s *session) carries(st *streaming, channel string, size int) error {
	overhead := pubOverhead(s.clientID(linkKey{roleProducer, 1 << 30}), channel, st.connID)
	if limit := st.nc.MaxPayload(); int64(size+overhead) > limit {
		return fmt.Errorf("stan: payloads of %d bytes: %w: the server's max_payload is %d, of which the protocol needs up to %d",
			size, driver.ErrTooLarge, limit, overhead)
	}
	return nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.failed(driver.ErrClosed)
	}
	st := p.link.live.Load()
	if st == nil {
		return p.failed(driver.ErrNotConnected)
	}
	if st.sender != nil {
		return p.sendByClient(st, token, payload)
	}
	if p.made != st {
		p.made = st
		p.subject = st.info.PubPrefix + "." + p.channel
		p.head = appendPubHead(p.head[:0], st.id, p.channel, st.connID)
	}
	// Once it waits, the end of the connection may give the payload back.
	p.message = appendPubMsg(p.message[:0], p.head, payload)
	id, ok := st.waiting.take(p, token)
	if !ok {
		return p.failed(driver.ErrNotConnected)
	}
	p.message = appendPubGUID(p.message, id)
	if err := st.nc.PublishRequest(p.subject, st.acks, p.message); err != nil {
		if from, _ := st.waiting.remove(id); from == nil {
			return nil // the loss of the connection has been told to Done
		}
		return p.failed(err)
	}
	return nil
}

// sendByClient lets stan.go publish. What remains without an acknowledgement is
// told by the client, too.
func (p *producer) sendByClient(st *streaming, token uint64, payload []byte) error {
	_, err := st.sender.PublishAsync(p.channel, payload, func(_ string, err error) {
		if err != nil {
			err = wrap(err, "send to %q", p.channel)
		}
		p.done(token, err)
	})
	if err != nil {
		select {
		case <-st.lost:
			err = driver.ErrNotConnected // the client calls it closed
		default:
		}
		return p.failed(err)
	}
	return nil
}

// done tells the outcome of a send.
func (p *producer) done(token uint64, err error) { p.acks.Done(token, err) }

func (p *producer) failed(err error) error {
	if p.link.closing.Load() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return wrap(err, "send to %q", p.channel)
}

// Close implements driver.Producer. The connection ends with its last
// producer; what is unanswered then is done with ErrClosed.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		if st := p.link.live.Load(); st != nil {
			st.waiting.wake()
		}
		p.link.session.links.Release(ctx, p.link.key, p.link)
	}
	return nil
}
