package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// session implements driver.Session.
type session struct {
	*rabbit.Broker

	options Options
	admin   *rabbit.Admin[*wire.Conn]
	links   *kit.Pool[linkKey, *link]

	mu        sync.Mutex
	consumers map[int]*consumer // by their numbers
	streams   []string          // that Provision has made, or found
	topology  driver.Topology
	spread    bool // some are not on the server that the URL names alone
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s := &session{options: o, consumers: map[int]*consumer{}}
	var err error
	if s.Broker, err = rabbit.NewBroker(protocol(), t, o.Config(o.FrameMax, t.Batch)); err != nil {
		return nil, err
	}
	s.links = kit.NewPool(product,
		func(ctx context.Context, key linkKey) (*link, error) { return newLink(ctx, s, key) },
		func(ctx context.Context, l *link) { l.Close(ctx) })
	s.admin = rabbit.NewAdmin(s.Broker, func(_ context.Context, c kit.Conn) (*wire.Conn, error) {
		return wire.Open(c, s.ConfigOf(string(kit.Control)))
	})
	return s, nil
}

// reach connects the connection to create and delete with, beside those of producers
// and consumers.
func (s *session) reach(ctx context.Context) error { return s.admin.Start(ctx) }

// naming is that of streams, and of what consumers and producers are called.
func naming() driver.Naming {
	n := rabbit.Naming()
	n.GivenTopic = "a stream"
	return n
}

// stream returns the name of the topic's stream.
func (s *session) stream(topic string) string { return naming().TopicName(s.Target, topic) }

// own returns the name of what is the run's in a stream.
func (s *session) own(name string) string { return naming().Name(s.Target, name) }

// Destinations implements driver.DestinationNamer.
func (s *session) Destinations() (all []driver.Destination) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, topic := range s.topology.Topics {
		all = append(all, driver.Destination{Topic: topic, Name: s.stream(topic)})
	}
	return all
}

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := checkName("topic", topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	if len(t.Groups) > 0 {
		return driver.Semantics{}, fmt.Errorf("rabbitmq-stream: groups of consumers: %w: each consumer of a stream gets every message; use driver rabbitmq for queues that are shared", driver.ErrUnsupported)
	}
	args := s.options.streamArguments()
	for _, topic := range t.Topics {
		stream := s.stream(topic)
		var err error
		if !t.Existing && !s.Target.Given { // else who locates it will see
			err = s.admin.Do(ctx, func(c *wire.Conn) error { return c.Create(ctx, stream, args) })
		}
		if isCode(err, wire.StreamExists) {
			err = nil
		}
		err = wrap(err, "create stream %q", stream)
		s.mu.Lock()
		if !s.Target.Given && !driver.Final(err) { // what was refused is not made
			s.streams = append(s.streams, stream)
		}
		s.topology = t
		s.mu.Unlock()
		if err != nil {
			return driver.Semantics{}, err
		}
	}
	if err := s.checkSize(t.MaxSize, t.Headers); err != nil {
		return driver.Semantics{}, err
	}
	for _, topic := range t.Topics {
		if _, err := s.leader(ctx, s.stream(topic)); err != nil {
			return driver.Semantics{}, err
		}
	}
	return s.semantics(), nil
}

// checkSize finds payloads that fit into no frame.
func (s *session) checkSize(size int, headers []driver.Header) error {
	if room := s.admin.Latest().Room() - len(properties(headers)); size > room {
		return fmt.Errorf("rabbitmq-stream: a payload of %d bytes: %w: frames have room for %d, see stream.frame_max of the broker and frame_max of the driver", size, driver.ErrTooLarge, room)
	}
	return nil
}

// leader waits until the stream has a leader, if somebody wants to know it, and
// returns its address where there are several brokers; else it is empty: there is no
// choice.
func (s *session) leader(ctx context.Context, stream string) (string, error) {
	var at wire.Placement
	var asked string
	err := s.admin.Do(ctx, func(c *wire.Conn) (err error) {
		asked = c.Advertised()
		if at, err = c.Locate(ctx, stream); err == nil && at.Leader == "" && (s.Clustered() || s.options.Client == library) {
			err = errNoLeader
		}
		return err
	})
	switch {
	case err != nil:
		return "", wrap(err, "locate stream %q", stream)
	case !s.Clustered():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spread = s.spread || at.Leader != asked || len(at.Replicas) > 0
		return "", nil
	}
	return at.Leader, nil
}

// alone reports whether the server that the URL names has all streams, and no other
// server has a replica of one.
func (s *session) alone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.spread && !s.Clustered()
}

// lastPublished asks for the last publishing ID that the broker has of a named
// producer, or 0.
func (s *session) lastPublished(ctx context.Context, name, stream string) (last uint64, err error) {
	err = s.admin.Do(ctx, func(c *wire.Conn) (err error) {
		last, err = c.LastPublished(ctx, name, stream)
		return err
	})
	if err != nil && !isCode(err, wire.NoOffset) {
		return 0, wrap(err, "ask what %q has published", name)
	}
	return last, nil
}

// Deprovision implements driver.Session. Of a session that has closed it opens another.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	streams, keep := s.streams, s.topology.Keep
	s.mu.Unlock()
	if len(streams) == 0 || keep {
		return nil
	}
	if s.options.Client == library {
		// If a consumer of the library is closed while its stream is deleted, it waits for
		// an answer that is never read, until connect_timeout has passed.
		s.links.Drain(ctx)
	}
	to := s
	if s.Closed() {
		var err error
		if to, err = newSession(s.Target, s.options); err != nil {
			return err
		}
		defer to.Close(ctx)
		if err = to.reach(ctx); err != nil {
			return errors.Join(driver.LeaveAll(err, "stream", streams)...)
		}
	}
	var errs []error
	for _, stream := range streams {
		if err := to.admin.Do(ctx, func(c *wire.Conn) error { return c.Delete(ctx, stream) }); err != nil && !isCode(err, wire.NoStream) {
			errs = append(errs, &driver.Left{What: "stream", Name: stream, Err: wrap(err, "delete stream %q", stream)})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = nil
	return errors.Join(errs...)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Base.Close(ctx, s.links.Close, func(ctx context.Context) { _ = s.admin.Close(ctx) })
}
