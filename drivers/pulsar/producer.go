package pulsar

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// never is how often the client looks whether a topic has more partitions: the number
// does not change during a run.
const never = 24 * time.Hour

// producer implements driver.Producer and driver.KeySender.
type producer struct {
	session    *session
	link       *link
	key        kit.Key
	client     pulsar.Producer
	topic      string
	acks       driver.Acks
	properties map[string]string // of every message; nil: none
	free       sync.Pool         // of *sending
	closed     bool              // guarded by the link's lock
}

// sending is a message that has been handed to the client.
type sending struct {
	producer *producer
	token    uint64
	message  pulsar.ProducerMessage
	answer   func(pulsar.MessageID, *pulsar.ProducerMessage, error) // its own done
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p := &producer{session: s, key: kit.Key{Role: kit.Producer, Conn: spec.Conn}, topic: s.topic(spec.Topic), acks: acks}
	for _, h := range spec.Headers {
		if p.properties == nil {
			p.properties = map[string]string{}
		}
		p.properties[h.Name] = h.Value
	}
	p.free.New = func() any {
		m := &sending{producer: p, message: pulsar.ProducerMessage{Properties: p.properties}}
		m.answer = m.done
		return m
	}
	var err error
	if p.link, err = s.links.Acquire(ctx, p.key); err != nil {
		return nil, err
	}
	options := s.producerOptions(p.link, p.topic, spec)
	p.client, err = call(ctx, p.link, func() (pulsar.Producer, error) { return p.link.client.CreateProducer(options) }, pulsar.Producer.Close)
	if err != nil {
		s.links.Release(ctx, p.key, p.link)
		return nil, s.Wrap(err, "producer of %q", p.topic)
	}
	return p, nil
}

func (s *session) producerOptions(l *link, topic string, spec driver.ProducerSpec) pulsar.ProducerOptions {
	o := &s.options
	p := pulsar.ProducerOptions{
		Topic:                           topic,
		SendTimeout:                     -1,
		DisableBlockIfQueueFull:         true,
		MaxPendingMessages:              s.maxPending(),
		CompressionType:                 o.compression(),
		CompressionLevel:                o.compressionLevel(),
		DisableBatching:                 !o.batches(s.Target.Batch),
		BatchingMaxPublishDelay:         o.BatchDelay,
		BatchingMaxMessages:             uint(o.BatchMessages),
		BatchingMaxSize:                 uint(o.BatchSize),
		BackOffPolicyFunc:               l.pacing(topic),
		PartitionsAutoDiscoveryInterval: never,
	}
	if o.SendTimeout > 0 {
		p.SendTimeout = o.SendTimeout
	}
	if spec.KeySize > 0 && o.subscription() == pulsar.KeyShared {
		p.BatcherBuilderType = pulsar.KeyBasedBatchBuilder // a batch goes to one consumer
	}
	return p
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error { return p.send(token, payload, "") }

// SendKeyed implements driver.KeySender.
func (p *producer) SendKeyed(token uint64, payload, key []byte) error {
	return p.send(token, payload, string(key))
}

func (p *producer) send(token uint64, payload []byte, key string) error {
	p.link.mu.RLock()
	defer p.link.mu.RUnlock()
	if p.closed || p.link.closed {
		return fmt.Errorf("pulsar: send to %q: producer %w", p.topic, driver.ErrClosed)
	}
	if p.link.gaveUp != nil {
		return fmt.Errorf("pulsar: send to %q: the connection was given up: %w", p.topic, p.link.gaveUp)
	}
	if why := p.link.denied(p.topic); why != nil {
		return fmt.Errorf("pulsar: send to %q: the producer was given up: %w", p.topic, why)
	}
	m := p.free.Get().(*sending)
	m.token, m.message.Payload, m.message.Key = token, payload, key
	p.client.SendAsync(context.Background(), &m.message, m.answer)
	return nil
}

// done takes the client's answer. The client may still read the message's other
// fields, which stay as they are.
func (m *sending) done(id pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
	p, token := m.producer, m.token
	m.message.Payload, m.message.Key = nil, ""
	p.free.Put(m)
	switch {
	case err != nil:
		err = p.session.outcome(err, p.topic)
	case id.LedgerID() < 0 && !p.session.options.Persistent:
		err = fmt.Errorf("pulsar: send to %q: %w: the broker has thrown it away, by its maxConcurrentNonPersistentMessagePerConnection", p.topic, driver.ErrThrottled)
	}
	p.acks.Done(token, err)
}

// settling is how long a producer waits for receipts before it closes.
const settling = time.Second

// Close implements driver.Producer. The connection ends with its last producer. It waits for the receipts of what is in
// flight, but not long: the client gives that up when it closes, and a receipt that comes in that moment for a message that
// was given up ends the program (apache/pulsar-client-go, issue 1497).
func (p *producer) Close(ctx context.Context) error {
	p.link.mu.Lock()
	open := !p.closed
	p.closed = true
	p.link.mu.Unlock()
	if !open {
		return nil
	}
	end := func() (struct{}, error) {
		receipts, cancel := context.WithTimeout(ctx, settling)
		defer cancel()
		_ = p.client.FlushWithCtx(receipts) // what has none by then is given up
		p.client.Close()
		return struct{}{}, nil
	}
	_, _ = call(ctx, p.link, end, func(struct{}) {}) // what takes longer ends without us
	p.session.links.Release(ctx, p.key, p.link)
	return nil
}
