package relay

import (
	"context"
	"fmt"
	"net"
	"sync"

	"sixnines/driver"
	"sixnines/semantics"
)

// session is one run at the broker.
type session struct {
	target  driver.Target
	address string
	options Options

	mu     sync.Mutex
	links  map[linkName]*link
	closed bool
}

// linkName identifies a connection: producers and consumers never share one, and
// who is slow has one alone.
type linkName struct {
	consumers, slow bool
	number          int
}

// role says whose connection it is, so that those of producers alone can be cut.
func (n linkName) role() driver.Role {
	if n.consumers {
		return driver.RoleConsumer
	}
	return driver.RoleProducer
}

// Provision implements driver.Session. The broker makes topics as they are
// used, and forgets them with their subscribers.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := ctx.Err(); err != nil {
		return driver.Semantics{}, fmt.Errorf("relay: provision: %w: %w", driver.ErrTimeout, err)
	}
	if t.MaxSize > maxPayload {
		return driver.Semantics{}, fmt.Errorf("relay: payloads of %d bytes: %w: the broker carries %d", t.MaxSize, driver.ErrTooLarge, maxPayload)
	}
	return driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotStored, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:         semantics.Client{Kind: semantics.Direct},
		Server:         driver.Server{Product: "relay"},
		Durability:     "none",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       "none: a write a message",
		Consumption:    "push",
		Transport:      "tcp",
	}, nil
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	l, err := s.link(ctx, linkName{number: spec.Conn})
	if err != nil {
		return nil, err
	}
	return &producer{link: l, topic: s.topic(spec.Topic), acks: acks}, nil
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if spec.Group != "" || spec.Ack.Mode > driver.AckNone {
		return nil, fmt.Errorf("relay: groups and acknowledgements: %w", driver.ErrUnsupported)
	}
	name := linkName{consumers: true, number: spec.Conn}
	if spec.Slow {
		// Deliver runs on the goroutine that reads the connection.
		name.slow, name.number = true, spec.ID
	}
	l, err := s.link(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &consumer{deliver: deliver, idle: make(chan struct{}, 1)}
	c.idle <- struct{}{}
	for _, t := range spec.Topics {
		// The answer comes when the subscription is effective.
		if err := l.ask(ctx, 'S', l.subscribe(c), s.topic(t)); err != nil {
			return nil, fmt.Errorf("relay: subscribe to %q: %w", t, err)
		}
	}
	return c, nil
}

// topic is what the broker calls a topic of this run.
func (s *session) topic(name string) string { return s.target.Run + "." + name }

// link returns the connection of that name, which it makes on the first call.
func (s *session) link(ctx context.Context, name linkName) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("relay: %w", driver.ErrClosed)
	}
	if l := s.links[name]; l != nil {
		return l, nil
	}
	l, err := s.dial(driver.WithRole(ctx, name.role()))
	if err != nil {
		return nil, err
	}
	s.links[name] = l
	return l, nil
}

// dial makes a connection by the engine's dialler, which can close it under a
// write that does not return.
func (s *session) dial(ctx context.Context) (*link, error) {
	dial := s.target.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", s.address)
	if err != nil {
		return nil, fmt.Errorf("relay: connect to %s: %w: %w", s.address, driver.ErrNotConnected, err)
	}
	driver.LoggedIn(ctx) // this protocol asks nobody who they are
	return newLink(conn, int(s.options.ReadBuffer), s.target.Notify), nil
}

// Deprovision implements driver.Session: the broker keeps nothing.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session. Closing a connection ends whatever is
// blocked on it.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	links := s.links
	s.mu.Unlock()
	for _, l := range links {
		l.close()
	}
	for _, l := range links {
		select {
		case <-l.ended:
		case <-ctx.Done():
			return fmt.Errorf("relay: close: a Deliver has not returned: %w: %w", driver.ErrTimeout, ctx.Err())
		}
	}
	return nil
}

// producer publishes to one topic.
type producer struct {
	link   *link
	topic  string
	acks   driver.Acks
	closed bool
}

// Send implements driver.Producer. The frame is copied into the connection's
// own buffer, so the payload can be used again as soon as Send returns.
func (p *producer) Send(token uint64, payload []byte) error {
	switch {
	case p.closed:
		return fmt.Errorf("relay: publish: %w", driver.ErrClosed)
	case len(payload) > maxPayload:
		return fmt.Errorf("relay: publish %d bytes: %w", len(payload), driver.ErrTooLarge)
	}
	if err := p.link.write('P', uint32(len(p.topic)), p.topic, payload); err != nil {
		return fmt.Errorf("relay: publish: %w", err)
	}
	p.acks.Done(token, nil)
	return nil
}

// Sync implements driver.Syncer: the broker answers a ping after it has read
// what came before.
func (p *producer) Sync(ctx context.Context) error { return p.link.ask(ctx, 'Q', 0, "") }

// Close implements driver.Producer. The connection is the session's.
func (p *producer) Close(context.Context) error {
	p.closed = true
	return nil
}

// consumer is some subscriptions of one connection.
type consumer struct {
	deliver driver.Deliver
	idle    chan struct{} // holds one value while no Deliver runs
	closed  bool          // guarded by the value in idle
}

// message calls Deliver, unless the consumer is closed.
func (c *consumer) message(payload []byte) {
	<-c.idle
	if !c.closed {
		c.deliver(driver.Message{Payload: payload})
	}
	c.idle <- struct{}{}
}

// Close implements driver.Consumer. No Deliver runs after it.
func (c *consumer) Close(ctx context.Context) error {
	select {
	case <-c.idle:
		c.closed = true
		c.idle <- struct{}{}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("relay: close a consumer: its Deliver has not returned: %w: %w", driver.ErrTimeout, ctx.Err())
	}
}
