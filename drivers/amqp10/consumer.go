package amqp10

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer, kit.Member and kit.Part.
type consumer struct {
	session *session
	link    *link
	key     kit.Key
	spec    driver.ConsumerSpec
	every   int            // accept after this many messages; 0: the broker sends them settled
	deliver driver.Deliver // with the gate locked
	gate    *kit.Gate
	closed  atomic.Bool
	now     atomic.Pointer[subscription]
}

// subscription is a consumer on one connection.
type subscription struct {
	consumer *consumer
	conn     *conn
	session  *amqp.Session
	topics   []*receiver
}

// receiver is a subscription to one topic, with a goroutine.
type receiver struct {
	*subscription
	in *amqp.Receiver

	delivered []*amqp.Message // and not accepted; guarded by the gate's lock
	used      int             // credit that was not granted again; its goroutine's own
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, key: kit.Key{Role: kit.Consumer, Conn: spec.Conn}, spec: spec, gate: kit.NewGate(nil), deliver: deliver}
	if err := s.checkAlone(spec); err != nil {
		return nil, err
	}
	var err error
	if c.every, err = s.ackEvery(spec.Ack); err != nil {
		return nil, err
	}
	if c.link, err = s.links.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	for i := 0; c.isAlone() && i < len(spec.Topics) && err == nil; i++ {
		err = s.do(ctx, func(to *conn) error { return s.createQueue(ctx, to, spec.Topics[i], spec) })
	}
	if err == nil {
		err = c.link.Join(ctx, c)
	}
	if err == nil {
		_, err = s.Keep(c)
	}
	if err != nil {
		if s.Closed() {
			err = fmt.Errorf("%w: %w", driver.ErrClosed, err)
		}
		c.Close(ctx)
		return nil, wrap(err, "subscribe to %q", spec.Topics)
	}
	return c, nil
}

// isAlone reports whether the consumer has queues of its own, which the driver makes
// and deletes.
func (c *consumer) isAlone() bool {
	return c.spec.Group == "" && c.session.isManaged() && !c.session.isAnycast()
}

// checkAlone refuses a consumer on its own that would not get every message.
func (s *session) checkAlone(spec driver.ConsumerSpec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case spec.Group != "":
	case s.anycast && len(s.topology.Groups) > 0:
		return fmt.Errorf("amqp10: a consumer on its own beside a group: %w: with routing anycast a topic is one queue", driver.ErrUnsupported)
	case !s.anycast && s.topology.Existing:
		return fmt.Errorf("amqp10: a consumer on its own of what was kept: %w: its queue would begin empty; set workload.groups to 1", driver.ErrUnsupported)
	}
	return nil
}

// ackEvery returns after how many messages to accept them; 0: none, they come
// settled.
func (s *session) ackEvery(a driver.ConsumerAck) (int, error) {
	every := s.options.AckEvery
	switch a.Mode {
	case driver.AckNone:
		every = 0
	case driver.AckEach:
		every = 1
	case driver.AckEvery:
		every = max(a.Every, 1)
	}
	if credit := s.options.Credit; every > 1 && every > credit/4 {
		return 0, fmt.Errorf("amqp10: option \"credit\": %w: %d messages are accepted together, for which it must be %d at least", driver.ErrOption, every, 4*every)
	}
	return every, nil
}

// wasDelivered reports whether a message was delivered before. RabbitMQ does not count for classic queues, and says only
// that this consumer is not the first.
func (s *session) wasDelivered(h *amqp.MessageHeader) bool {
	return h != nil && (h.DeliveryCount > 0 || !h.FirstAcquirer && s.is(rabbitMQProduct))
}

// manualCredit has the library grant no credit.
const manualCredit = -1

// Attach implements kit.Member.
func (c *consumer) Attach(ctx context.Context, to *conn) error {
	s := c.session
	o := &amqp.ReceiverOptions{Credit: manualCredit, SourceCapabilities: s.capability()}
	if c.every == 0 {
		o.RequestedSenderSettleMode = amqp.SenderSettleModeSettled.Ptr()
	}
	in := &subscription{consumer: c, conn: to}
	var err error
	if in.session, err = to.begin(ctx); err != nil {
		return wrap(err, "begin a session")
	}
	for _, topic := range c.spec.Topics {
		source := s.source(topic, c.spec)
		link, err := in.session.NewReceiver(ctx, source, o)
		if err == nil {
			err = link.IssueCredit(uint32(s.options.Credit))
		}
		if err != nil {
			to.quit(ctx, in.session)
			return wrap(err, "attach to %q", source)
		}
		in.topics = append(in.topics, &receiver{subscription: in, in: link})
	}
	c.now.Store(in)
	for _, r := range in.topics {
		go r.receive()
	}
	return nil
}

// receive delivers what comes, until the link ends or the consumer closes.
func (r *receiver) receive() {
	for {
		m, err := r.next()
		if err == nil {
			err = r.deliver(m)
		}
		if err != nil {
			if c := r.consumer; !c.closed.Load() && !r.conn.isOver() {
				r.conn.ended(c.link, wrap(err, "consume"))
			}
			return
		}
	}
}

// next returns the next message. It grants credit again when three quarters of it have been
// used and, on RabbitMQ's plugin, no message waits in the library. When the plugin is
// granted credit it counts twice what is on its way within the broker, and sends so much
// more than it may. The library adds a grant to the credit that is left, which may then be
// less than nothing, and forgets a grant with which that comes to exactly nothing: no
// message would follow.
func (r *receiver) next() (*amqp.Message, error) {
	if s := r.consumer.session; r.used >= max(1, s.options.Credit*3/4) {
		if s.plugin {
			if m := r.in.Prefetched(); m != nil {
				return m, nil
			}
		}
		if err := r.in.IssueCredit(uint32(r.used)); err != nil {
			return nil, err
		}
		r.used = 0
	}
	return r.in.Receive(context.Background(), nil)
}

// deliver hands a message over, and accepts what is due.
func (r *receiver) deliver(m *amqp.Message) error {
	c := r.consumer
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() {
		return driver.ErrClosed // a message that must be accepted is delivered again to another consumer
	}
	c.deliver(driver.Message{Payload: m.GetData(), Redelivered: c.session.wasDelivered(m.Header)})
	if c.every == 0 {
		r.used++
		return nil
	}
	if r.delivered = append(r.delivered, m); len(r.delivered) < c.every {
		return nil
	}
	r.used += len(r.delivered)
	return r.accept()
}

// accept accepts all that was delivered.
func (r *receiver) accept() error {
	for _, m := range r.delivered {
		if err := r.in.AcceptMessage(context.Background(), m); err != nil {
			return err
		}
	}
	clear(r.delivered)
	r.delivered = r.delivered[:0]
	return nil
}

// Close implements driver.Consumer. It waits for a running Deliver, at most until
// ctx ends. What the broker had sent and was not delivered it gives to others, unless
// it was settled.
func (c *consumer) Close(ctx context.Context) error {
	err := c.Shut(ctx)
	if !c.closed.CompareAndSwap(false, true) {
		return err
	}
	s := c.session
	s.Forget(c)
	c.link.Part(c)
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	if in := c.now.Swap(nil); in != nil {
		if err == nil {
			c.gate.Lock()
			for _, r := range in.topics {
				r.accept() // if that fails they come again
			}
			c.gate.Unlock()
		}
		in.conn.quit(grace, in.session)
	}
	for i := 0; !s.Closed() && c.isAlone() && i < len(c.spec.Topics); i++ {
		// It would fill up. If that fails, Deprovision sees to it.
		queue := thing{aQueue, s.queue(c.spec.Topics[i], c.spec)}
		if s.do(grace, func(to *conn) error { return to.broker.delete(grace, queue) }) == nil {
			s.forget(queue)
		}
	}
	s.links.Release(ctx, c.key, c.link)
	return err
}

// Shut implements kit.Part.
func (c *consumer) Shut(ctx context.Context) error {
	return wrap(c.gate.Shut(ctx), "close a consumer")
}
