package kafka

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/internal/keys"
)

// producer implements driver.Producer and driver.KeySender.
type producer struct {
	session *session
	link    *link
	key     kit.Key
	topic   string // Kafka's name
	name    string // the run's
	acks    driver.Acks
	keys    *keys.Source             // of the option key; nil: no keys
	sent    uint64                   // messages that had one
	headers []kgo.RecordHeader       // of every record
	promise func(*kgo.Record, error) // one for all records
	closed  atomic.Bool

	free     *sending                // Send's own
	returned atomic.Pointer[sending] // those that are done, to be taken all at once
}

// sending is a record on its way, used again and again. It is the record's own
// context, which is how the client's answer finds back to it.
type sending struct {
	context.Context // never ends
	record          kgo.Record
	token           uint64
	key             []byte // of the option key, used again
	next            *sending
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	name, err := s.kafkaName(spec.Topic)
	if err != nil {
		return nil, err
	}
	if limit := s.largest; limit > 0 && s.options.Compression == none && spec.Size+s.framing(spec.KeySize, spec.Headers) > limit {
		return nil, s.tooLarge(spec.Size)
	}
	p := &producer{session: s, key: kit.Key{Role: kit.Producer, Conn: spec.Conn}, topic: name, name: spec.Topic, acks: acks}
	if s.options.Key != none {
		o := &s.options
		p.keys = keys.New(keys.Spec{Kind: keys.Kind(o.Key), Size: o.KeySize, Space: uint64(o.KeySpace), Skew: o.KeySkew}, uint32(spec.ID))
	}
	for _, h := range spec.Headers {
		p.headers = append(p.headers, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
	}
	if s.options.Transactions {
		return s.transactional(ctx, p, spec)
	}
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	p.promise = p.done
	if err := s.open(ctx, p.link.client); err != nil {
		s.links.Release(ctx, p.key, p.link)
		return nil, s.connecting(err, "connect a producer of %q", spec.Topic)
	}
	if !s.options.acknowledged() {
		if err := s.mayWrite(ctx, name); err != nil {
			s.links.Release(ctx, p.key, p.link)
			return nil, err
		}
		s.unanswered.topics.Store(name, nil)
		return p, nil
	}
	return acknowledged{p}, nil
}

// open connects a client that will produce, so that its first record finds the
// connections made.
func (s *session) open(ctx context.Context, client *kgo.Client) error {
	if err := client.Ping(ctx); err != nil {
		return err
	}
	if s.options.idempotent() && s.speaks(initProducerID, 0) {
		if err := kit.Await(ctx, "ask for a producer's number", passes, func() error {
			_, _, err := client.ProducerID(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	if !s.speaks(apiVersions, 0) {
		return nil // the client asks for versions to see whether a connection is open
	}
	return client.EnsureProduceConnectionIsOpen(ctx, -1)
}

// connecting is wrap for an error of connecting: that the session has been
// closed meanwhile explains all.
func (s *session) connecting(err error, format string, args ...any) error {
	if s.Closed() {
		err = driver.ErrClosed
	}
	return fmt.Errorf("%w%s", wrap(err, format, args...), s.hint(err))
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error { return p.SendKeyed(token, payload, nil) }

// SendKeyed implements driver.KeySender.
func (p *producer) SendKeyed(token uint64, payload, key []byte) error {
	if p.closed.Load() || p.link.closing.Load() {
		return fmt.Errorf("kafka: send to %q: %w", p.name, driver.ErrClosed)
	}
	if err := p.link.dialer.logins.over(); err != nil {
		return wrap(err, "send to %q", p.name)
	}
	p.produce(p.link.client, token, payload, key)
	return nil
}

// produce hands a record to the client.
func (p *producer) produce(client *kgo.Client, token uint64, payload, key []byte) {
	s := p.free
	if s == nil {
		if s = p.returned.Swap(nil); s == nil {
			s = &sending{Context: context.Background()}
		}
	}
	p.free = s.next
	s.token = token
	s.record = kgo.Record{Topic: p.topic, Key: key, Value: payload, Headers: p.headers, Context: s}
	if p.keys != nil {
		if s.key == nil {
			s.key = make([]byte, p.session.options.KeySize)
		}
		p.keys.Put(s.key, p.sent)
		p.sent++
		s.record.Key = s.key
	}
	client.Produce(s.Context, &s.record, p.promise)
}

// done is the client's answer to a record; the client calls it for one after
// the other.
func (p *producer) done(r *kgo.Record, err error) {
	token := p.recycle(r)
	if err != nil {
		err = undelivered(err, p.name)
	}
	p.acks.Done(token, err)
}

// recycle returns the token of a record and lets it be used again.
func (p *producer) recycle(r *kgo.Record) uint64 {
	s := r.Context.(*sending)
	token := s.token
	s.record.Key, s.record.Value = nil, nil
	for {
		s.next = p.returned.Load()
		if p.returned.CompareAndSwap(s.next, s) {
			return token
		}
	}
}

// acknowledged is a producer that implements driver.Syncer as well: what is
// acknowledged has been read. Without acknowledgements there is no way to know:
// nothing comes back on the connection of such records, and brokers do not wait
// for it on any other.
type acknowledged struct{ *producer }

// Sync implements driver.Syncer.
func (p acknowledged) Sync(ctx context.Context) error {
	if p.closed.Load() || p.link.closing.Load() {
		return fmt.Errorf("kafka: wait for %q: %w", p.name, driver.ErrClosed)
	}
	return wrap(p.link.client.Flush(ctx), "wait for what was sent to %q", p.name)
}

// Close implements driver.Producer. The client ends with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.links.Release(ctx, p.key, p.link)
	}
	return nil
}
