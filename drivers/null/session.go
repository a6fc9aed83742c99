package null

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/internal/nullbroker"
	"sixnines/semantics"
)

// session implements driver.Session and driver.RequestReplier.
type session struct {
	target  driver.Target
	address string
	options Options
	welcome nullbroker.Welcome
	life    context.Context // ends with the session
	cancel  context.CancelFunc

	mu     sync.Mutex
	links  map[linkKey]*link
	closed bool
}

// Provision implements driver.Session. Topics need no making.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if ctx.Err() != nil {
		return driver.Semantics{}, fmt.Errorf("null: provision: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	for _, name := range t.Topics {
		if _, err := s.topic(name); err != nil {
			return driver.Semantics{}, err
		}
	}
	for _, name := range t.Groups {
		if err := checkName("group", name); err != nil {
			return driver.Semantics{}, err
		}
	}
	if t.MaxSize > nullbroker.MaxPayload {
		return driver.Semantics{}, tooLarge(t.MaxSize)
	}
	acknowledgment, ordering := "none", "per producer and topic"
	if s.options.confirms() {
		acknowledgment = "handed on to the subscribers' sockets"
	}
	batching := "none, each message is written on the sender's thread"
	if n := kit.WriteBuffer(s.options.WriteBuffer, s.target.Batch); n > 1 {
		batching = fmt.Sprintf("up to %d bytes are written together", n)
	}
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotStored, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:     semantics.Client{Kind: semantics.Direct},
		Server:     driver.Server{Product: "Sixnines null broker", More: s.withServer(map[string]string{"delay": s.welcome.Law, "seed": fmt.Sprint(s.welcome.Seed)})},
		Durability: "none, messages are not stored", Replication: "none", Acknowledgment: acknowledgment, Ordering: ordering,
		Delivery: "at most once", Batching: batching, Consumption: "push, delivered on the goroutine that reads", Transport: "tcp",
		Settings: s.withServer(map[string]string{"delay": s.welcome.Law, "seed": fmt.Sprint(s.welcome.Seed), "ack": s.options.Ack}),
	}
	if s.welcome.Server != "" {
		sem.Warnings = append(sem.Warnings, "the null broker serves one message after the other, each for "+s.welcome.Server+": the figures are of a trial")
	}
	law, err := nullbroker.ParseLaw(s.welcome.Law)
	if err != nil || law.Overtakes() {
		sem.Levels.Ordering = semantics.Unordered
		sem.Ordering = "none: messages are held back for different times"
	}
	if err != nil || !law.None() {
		sem.Warnings = append(sem.Warnings, "the null broker holds each message back by "+s.welcome.Law+": the figures are of a trial")
	}
	return sem, nil
}

// withServer adds the law of the broker's single server, if it has one.
func (s *session) withServer(m map[string]string) map[string]string {
	if s.welcome.Server != "" {
		m["server"] = s.welcome.Server
	}
	return m
}

func tooLarge(size int) error {
	return fmt.Errorf("null: payloads of %d bytes: %w: the null broker carries %d", size, driver.ErrTooLarge, nullbroker.MaxPayload)
}

func checkName(what, name string) error {
	if name == "" || len(name) > nullbroker.MaxName {
		return fmt.Errorf("null: %s %.40q: %w: a name has 1 to %d bytes", what, name, driver.ErrOption, nullbroker.MaxName)
	}
	return nil
}

// naming is that of topics.
func naming() driver.Naming { return driver.Naming{Separator: ".", Allowed: "._-", Longest: 100} }

// topic returns what the broker calls a topic of this run.
func (s *session) topic(name string) (string, error) {
	if name == "" {
		return "", checkName("topic", name)
	}
	full := naming().Name(s.target, name)
	return full, checkName("topic", full)
}

// link returns the connection of that key, which it makes on the first call.
func (s *session) link(ctx context.Context, key linkKey) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("null: %w", driver.ErrClosed)
	}
	if l := s.links[key]; l != nil {
		return l, nil
	}
	l := newLink(s, key)
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	s.links[key] = l
	return l, nil
}

// notify tells of an event.
func (s *session) notify(e driver.Event) {
	if s.target.Notify != nil && s.life.Err() == nil {
		s.target.Notify(e)
	}
}

// Deprovision implements driver.Session: the broker keeps nothing.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session. Closing a connection ends whatever is
// blocked on it.
func (s *session) Close(ctx context.Context) error {
	s.cancel() // before the lock: it ends a connect that holds it
	s.mu.Lock()
	s.closed = true
	links := make([]*link, 0, len(s.links))
	for _, l := range s.links {
		links = append(links, l)
	}
	s.mu.Unlock()
	for _, l := range links {
		l.cut()
	}
	var errs []error
	for _, l := range links {
		select {
		case <-l.ended:
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("null: close %s: %w: %w", l.key, driver.ErrTimeout, context.Cause(ctx)))
		}
	}
	return errors.Join(errs...)
}
