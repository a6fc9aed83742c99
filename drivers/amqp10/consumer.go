package amqp10

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
)

// consumer implements driver.Consumer and rabbit.Member.
type consumer struct {
	session    *session
	connection *connection
	key        connKey
	spec       driver.ConsumerSpec
	every      int // accept after so many messages; 0: the broker sends them settled
	gate       *rabbit.Gate
	closed     atomic.Bool
	now        atomic.Pointer[subscription]
}

// subscription is a consumer on one connection, with a link and a goroutine for each
// of its topics.
type subscription struct {
	consumer *consumer
	conn     *conn
	session  *amqp.Session

	delivered []*amqp.Message // and not accepted; guarded by the gate's lock
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, key: connKey{roleConsumer, spec.Conn}, spec: spec, gate: rabbit.NewGate(protocol(), deliver)}
	if err := s.checkAlone(spec); err != nil {
		return nil, err
	}
	var err error
	if c.every, err = s.ackEvery(spec.Ack); err != nil {
		return nil, err
	}
	if c.connection, err = s.connections.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	for i := 0; c.isAlone() && i < len(spec.Topics) && err == nil; i++ {
		err = s.admin.Do(ctx, func(to *conn) error { return to.createQueue(ctx, s.queueOf(spec.Topics[i], spec)) })
	}
	if err == nil {
		err = c.connection.Join(ctx, c)
	}
	if err == nil && !s.keep(c) {
		err = driver.ErrClosed
	}
	if err != nil {
		if s.life.Err() != nil {
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
	if credit := s.options.Credit; every > credit {
		return 0, fmt.Errorf("amqp10: option \"credit\": %w: the broker sends %d messages and waits until they are accepted, which they are after %d", driver.ErrOption, credit, every)
	}
	return every, nil
}

// keep lets the session's Close wait for c, unless it is over.
func (s *session) keep(c *consumer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.consumers[c] = struct{}{}
	}
	return !s.closed
}

// Attach implements rabbit.Member.
func (c *consumer) Attach(ctx context.Context, to *conn) error {
	s := c.session
	o := &amqp.ReceiverOptions{Credit: int32(s.options.Credit), SourceCapabilities: s.capability()}
	if c.every == 0 {
		o.RequestedSenderSettleMode = amqp.SenderSettleModeSettled.Ptr()
	}
	in := &subscription{consumer: c, conn: to}
	var err error
	if in.session, err = to.NewSession(ctx, nil); err != nil {
		return wrap(err, "begin a session")
	}
	var links []*amqp.Receiver
	for _, topic := range c.spec.Topics {
		source := s.source(topic, c.spec)
		link, err := in.session.NewReceiver(ctx, source, o)
		if err != nil {
			in.session.Close(ctx)
			return wrap(err, "attach to %q", source)
		}
		links = append(links, link)
	}
	c.now.Store(in)
	for _, link := range links {
		go in.receive(link)
	}
	return nil
}

// receive delivers what comes over a link, until that ends or the consumer closes.
func (in *subscription) receive(link *amqp.Receiver) {
	for {
		m, err := link.Receive(context.Background(), nil)
		if err == nil {
			err = in.deliver(link, m)
		}
		if err != nil {
			if c := in.consumer; !c.closed.Load() && !in.conn.isOver() {
				c.connection.Ended(wrap(err, "consume"))
			}
			return
		}
	}
}

// deliver hands a message over, and accepts what is due.
func (in *subscription) deliver(link *amqp.Receiver, m *amqp.Message) error {
	c := in.consumer
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() {
		return driver.ErrClosed // it comes again to somebody else, if it is to be accepted
	}
	c.gate.Handle(driver.Message{Payload: m.GetData(), Redelivered: m.Header != nil && m.Header.DeliveryCount > 0})
	if c.every == 0 {
		return nil
	}
	if c.every == 1 {
		return link.AcceptMessage(context.Background(), m)
	}
	if in.delivered = append(in.delivered, m); len(in.delivered) < c.every {
		return nil
	}
	return in.accept(link)
}

// accept accepts all that was delivered. A message knows its link: any will do.
func (in *subscription) accept(link *amqp.Receiver) error {
	for _, m := range in.delivered {
		if err := link.AcceptMessage(context.Background(), m); err != nil {
			return err
		}
	}
	clear(in.delivered)
	in.delivered = in.delivered[:0]
	return nil
}

// Close implements driver.Consumer. It waits for a running Deliver, at most until
// ctx ends. What the broker had sent and was not delivered it gives to others, unless
// it was settled.
func (c *consumer) Close(ctx context.Context) error {
	err := c.gate.Shut(ctx)
	if !c.closed.CompareAndSwap(false, true) {
		return err
	}
	s := c.session
	s.mu.Lock()
	_, kept := s.consumers[c]
	delete(s.consumers, c)
	s.mu.Unlock()
	c.connection.Leave(c)
	grace, cancel := rabbit.Grace(ctx)
	defer cancel()
	if in := c.now.Swap(nil); in != nil {
		if err == nil {
			c.gate.Lock()
			in.accept(nil) // if that fails they come again
			c.gate.Unlock()
		}
		in.session.Close(grace) // the connection may go on without it
	}
	for i := 0; kept && c.isAlone() && i < len(c.spec.Topics); i++ {
		// It would fill up. If that fails, Deprovision sees to it.
		s.admin.Do(grace, func(to *conn) error { return to.deleteQueue(grace, s.queue(c.spec.Topics[i], c.spec)) })
	}
	s.connections.Release(ctx, c.key, c.connection)
	return err
}
