package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// session implements driver.Session, driver.ServerInfo and driver.AckReporter.
type session struct {
	target      driver.Target
	options     Options
	client      *resp.Client
	control     *resp.Control
	writeBuffer int
	transport   string // of the control connection
	producers   *resp.Pool[*outlet]
	consumers   *resp.Pool[*inlet]
	awaited     atomic.Bool // there are consumers: publishes should reach somebody

	mu     sync.Mutex
	server resp.Server
}

func newSession(t driver.Target, o Options, cl *resp.Client, c *resp.Control) *session {
	return &session{target: t, options: o, client: cl, control: c, writeBuffer: o.writeBuffer(t.Batch),
		producers: resp.NewPool[*outlet]("redis"), consumers: resp.NewPool[*inlet]("redis")}
}

// look finds out what the server is and what it has been set to.
func (s *session) look(ctx context.Context) error {
	server, err := resp.Look(ctx, s.control, append(resp.Limits(), resp.OutputLimits)...)
	if err == nil {
		s.transport, err = s.control.Transport(ctx)
	}
	if err != nil {
		return fmt.Errorf("redis: ask the server about itself: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = server
	return nil
}

func (s *session) known() resp.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

// channel returns the channel of a topic.
func (s *session) channel(topic string) (string, error) {
	if topic == "" || strings.ContainsFunc(topic, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", fmt.Errorf("redis: topic %q: %w: names are not empty and have no spaces", topic, driver.ErrUnsupported)
	}
	return "sixnines." + s.target.Run + "." + topic, nil
}

// Provision implements driver.Session. Channels need no making; it checks that
// the server carries the payloads and reports its settings.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if _, err := s.channel(topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	if len(t.Groups) > 0 {
		return driver.Semantics{}, fmt.Errorf("redis: groups %q: %w: every subscriber of a channel gets every message; groups are what the driver redis-streams has", t.Groups, driver.ErrUnsupported)
	}
	if err := s.look(ctx); err != nil {
		return driver.Semantics{}, err
	}
	if err := s.known().Check(t.MaxSize); err != nil {
		return driver.Semantics{}, fmt.Errorf("redis: %w", err)
	}
	s.awaited.Store(t.Consumers > 0)
	return s.semantics(t), nil
}

// Deprovision implements driver.Session. The server forgets a channel with its
// last subscriber, so nothing is left to remove.
func (s *session) Deprovision(context.Context) error { return nil }

// Ack implements driver.AckReporter.
func (s *session) Ack() driver.AckKind {
	if s.options.Acks == none {
		return driver.AckKindNone
	}
	return driver.AckKindBroker
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	var closing sync.WaitGroup
	closing.Go(func() { s.producers.Close(ctx) })
	closing.Go(func() { s.consumers.Close(ctx) })
	closing.Go(func() { s.control.Close(ctx) })
	closing.Wait()
	return nil
}

// wrap adds what was being done to an error of package resp.
func wrap(err error, format string, args ...any) error {
	if driver.Class(err) == nil {
		err = errors.Join(driver.ErrNotConnected, err)
	}
	return fmt.Errorf("redis: %s: %w", fmt.Sprintf(format, args...), err)
}
