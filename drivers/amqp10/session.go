package amqp10

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// session implements driver.Session, driver.AckReporter, driver.DepthTeller and
// driver.ServerInfo.
type session struct {
	target      driver.Target
	options     Options
	broker      *rabbit.Broker
	notify      func(driver.Event)
	life        context.Context // ends when the session closes
	cancel      context.CancelFunc
	server      map[string]any // what the broker says of itself
	admin       *rabbit.Admin[*conn]
	connections *kit.Pool[connKey, *connection]

	mu        sync.Mutex
	closed    bool
	consumers map[*consumer]struct{}
	topology  driver.Topology // that Provision has made, or found
	anycast   bool            // a topic is one queue
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s := &session{target: t, options: o, notify: t.Notify, consumers: map[*consumer]struct{}{}, anycast: o.Routing == anycast}
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	login := rabbit.Login{VHost: o.VHost, User: o.User, Password: o.Password, External: o.Login == external}
	var err error
	if s.broker, err = rabbit.NewBroker(protocol(), t, login, o.ConnectTimeout); err != nil {
		return nil, err
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	s.connections = kit.NewPool(product, s.connect, func(ctx context.Context, c *connection) { c.Close(ctx) })
	s.admin = rabbit.NewAdmin(s.broker, s.opener("control"))
	return s, nil
}

// Ack implements driver.AckReporter.
func (s *session) Ack() driver.AckKind {
	if s.options.Settled {
		return driver.AckKindNone
	}
	return driver.AckKindBroker
}

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.plan(t); err != nil {
		return driver.Semantics{}, err
	}
	for _, topic := range t.Topics {
		if err := s.admin.Do(ctx, func(c *conn) error {
			if t.Existing {
				return s.find(ctx, c, topic)
			}
			return s.create(ctx, c, topic)
		}); err != nil {
			return driver.Semantics{}, wrap(err, "provision %q", s.address(topic))
		}
		if err := s.admin.Do(ctx, func(c *conn) error { return s.try(ctx, c, topic, t.MaxSize) }); err != nil {
			return driver.Semantics{}, wrap(err, "attach to %q for payloads of %d bytes", s.address(topic), t.MaxSize)
		}
	}
	return s.semantics(), nil
}

// Deprovision implements driver.Session. Of a session that has closed it connects
// once more.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	closed, topics := s.closed, s.topology.Topics
	if s.topology.Keep || !s.isManaged() {
		topics = nil
	}
	s.mu.Unlock()
	if len(topics) == 0 {
		return nil
	}
	// A consumer that came back would have Artemis make its address again.
	s.connections.Drain(ctx)
	a := s.admin
	if closed {
		a = rabbit.NewAdmin(s.broker, s.opener("control"))
		defer a.Close(ctx)
	}
	for _, topic := range topics {
		if err := a.Do(ctx, func(c *conn) error { return c.deleteAddress(ctx, s.name(topic)) }); err != nil {
			return wrap(err, "delete address %q", s.name(topic))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topology.Topics = nil
	return nil
}

// Depth implements driver.DepthTeller: what Artemis has in the consumer's queue,
// until it is accepted.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (d driver.Depth, err error) {
	if !s.isManaged() {
		return d, fmt.Errorf("amqp10: depth of %q: %w: in AMQP 1.0 nobody tells; the driver asks Artemis", s.source(topic, spec), driver.ErrUnsupported)
	}
	every, err := s.ackEvery(spec.Ack)
	if err != nil {
		return d, err
	}
	name := s.queue(topic, spec)
	d.Unacknowledged = every > 0
	if err := s.admin.Do(ctx, func(c *conn) (err error) {
		d.Messages, err = c.count(ctx, name)
		return err
	}); err != nil {
		return d, wrap(err, "ask how many messages queue %q has", name)
	}
	return d, nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	consumers := s.consumers
	s.consumers = map[*consumer]struct{}{}
	s.mu.Unlock()
	// Ends what is being dialled; established connections live on until they are
	// closed.
	s.cancel()
	grace, cancel := rabbit.Grace(ctx)
	defer cancel()
	var closing sync.WaitGroup
	closing.Go(func() { s.connections.Close(ctx) })
	closing.Go(func() { s.admin.Close(grace) })
	closing.Wait()
	var errs []error
	for c := range consumers {
		errs = append(errs, c.gate.Shut(ctx))
	}
	return errors.Join(errs...)
}
