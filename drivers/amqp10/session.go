package amqp10

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session and driver.DepthTeller.
type session struct {
	*kit.Base
	options Options
	vhost   string   // RabbitMQ's
	control *link    // to make, delete and ask with
	server  identity // of the broker
	plugin  bool     // it is RabbitMQ before 4.0
	links   *kit.Pool[kit.Key, *link]

	mu       sync.Mutex
	topology driver.Topology // that Provision has made, or found
	made     []thing         // that Deprovision is to remove
	anycast  bool            // a topic is one queue
}

func newSession(t driver.Target, o Options) (*session, error) {
	b, err := kit.NewBase(failures(), t, o.User, o.Password, schemes()...)
	if err != nil {
		return nil, err
	}
	if err := b.NeedsUser(); err != nil {
		return nil, err
	}
	if err := b.CheckName("run", t.Run); err != nil {
		return nil, err
	}
	if o.Login == external && (b.TLS == nil || len(b.TLS.Certificates) == 0) {
		return nil, b.Option("login", "external wants tls.cert and tls.key")
	}
	if b.User == "" {
		b.User, b.Secret = "guest", "guest"
	}
	s := &session{Base: b, options: o, vhost: cmp.Or(o.VHost, b.Path), anycast: o.Routing == anycast}
	s.links = kit.NewPool(product, s.connect, func(ctx context.Context, l *link) { _ = l.Close(ctx) })
	return s, nil
}

// reach connects the session's own connection, beside those of producers and consumers.
func (s *session) reach(ctx context.Context) (err error) {
	if s.control, err = s.connect(ctx, kit.Key{Role: kit.Control}); err != nil {
		return err
	}
	c := s.control.Live()
	if c == nil {
		return wrap(s.control.Absent(), "ask what the broker is")
	}
	s.server = c.Properties()
	s.plugin = s.server.isPlugin()
	return nil
}

// refusals says how producers learn of refusals: the broker ends the session on
// which it refuses something.
func (s *session) refusals() driver.Refusals {
	if s.options.Settled {
		return driver.RefusalsReported
	}
	return driver.RefusalsAnswered
}

// do runs f with the session's own connection, and once more where that turns out to be
// lost: nothing may have happened, or all of it. It waits a moment for the next one, and
// for what the broker cannot do yet.
func (s *session) do(ctx context.Context, f func(c *conn) error) error {
	soon := kit.Moment()
	return kit.Await(ctx, "amqp10: wait for the broker", func(err error) bool {
		return passes(err) || s.ClassOf(err) == driver.ErrNotConnected && soon()
	}, func() error {
		c := s.control.Live()
		if c == nil {
			return wrap(s.control.Absent(), "reach the broker")
		}
		return f(c)
	})
}

// note notes that Deprovision is to remove something.
func (s *session) note(t thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.made, t) {
		s.made = append(s.made, t)
	}
}

// forget notes that something is gone.
func (s *session) forget(t thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = slices.DeleteFunc(s.made, func(known thing) bool { return known == t })
}

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.plan(t); err != nil {
		return driver.Semantics{}, err
	}
	asks := s.plugin && !s.Target.Given && s.options.Address == "" && s.options.Source == "" && s.options.Login == plain && t.Consumers > 0 && !t.Existing
	for _, topic := range t.Topics {
		if asks {
			if err := s.mayRead(ctx, topic); err != nil {
				return driver.Semantics{}, err
			}
		}
		if err := s.do(ctx, func(c *conn) error {
			if s.Target.Given {
				return s.findGiven(ctx, c, topic, t)
			}
			if t.Existing {
				return s.find(ctx, c, topic)
			}
			return s.create(ctx, c, topic)
		}); err != nil {
			return driver.Semantics{}, wrap(err, "provision %q", s.address(topic))
		}
		if err := s.do(ctx, func(c *conn) error { return s.try(ctx, c, topic, t.MaxSize) }); err != nil {
			return driver.Semantics{}, wrap(err, "attach to %q for payloads of %d bytes", s.address(topic), t.MaxSize)
		}
	}
	sem := s.semantics()
	if len(t.Topics) > 0 {
		sem.Topic = s.address(t.Topics[0])
	}
	return sem, nil
}

// Deprovision implements driver.Session. Of a session that has closed it opens another.
func (s *session) Deprovision(ctx context.Context) (err error) {
	s.mu.Lock()
	made := slices.Clone(s.made)
	if s.topology.Keep || !s.isManaged() {
		made = nil
	}
	s.mu.Unlock()
	if len(made) == 0 {
		return nil
	}
	// A consumer that came back would have Artemis make its address again.
	s.links.Drain(ctx)
	to := s
	if s.Closed() {
		if to, err = newSession(s.Target, s.options); err != nil {
			return err
		}
		defer to.Close(ctx)
		err = to.reach(ctx)
	}
	var errs []error
	for _, t := range made {
		gone := err
		if gone == nil {
			gone = to.do(ctx, func(c *conn) error { return c.broker.delete(ctx, t) })
		}
		errs = append(errs, driver.LeaveAll(wrap(gone, "delete %s %q", t.what, t.name), t.what, []string{t.name})...)
	}
	if c := to.control.Live(); c != nil {
		c.manager.end(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = nil
	return errors.Join(errs...)
}

// Depth implements driver.DepthTeller: what the consumer's queue has, on Artemis until it is accepted.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (d driver.Depth, err error) {
	if !s.isManaged() {
		return d, fmt.Errorf("amqp10: depth of %q: %w: AMQP 1.0 cannot say; the driver asks Artemis and RabbitMQ from 4.0 on", s.source(topic, spec), driver.ErrUnsupported)
	}
	every, err := s.ackEvery(spec.Ack)
	if err != nil {
		return d, err
	}
	name := s.queue(topic, spec)
	if err := s.do(ctx, func(c *conn) (err error) {
		d.Messages, d.Unacknowledged, err = c.broker.count(ctx, name)
		d.Unacknowledged = d.Unacknowledged && every > 0
		return err
	}); err != nil {
		return d, wrap(err, "ask how many messages queue %q has", name)
	}
	return d, nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Base.Close(ctx, s.links.Close, func(ctx context.Context) { _ = s.control.Close(ctx) })
}
