package nats

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// session implements driver.Session, driver.RequestReplier and
// driver.ServerInfo.
type session struct {
	client *natswire.Client
	run    string

	mu        sync.Mutex
	consumers map[*consumer]struct{}
}

// tooLarge is the error of payloads that do not fit beside their headers.
func tooLarge(size int, headers []driver.Header, limit int64) error {
	return fmt.Errorf("nats: payloads of %d bytes and headers of %d: %w: the server's max_payload is %d", size, natswire.HeaderSize(headers), driver.ErrTooLarge, limit)
}

// checkName refuses names that are no plain part of a subject.
func checkName(what, name string) error { return natswire.CheckName(product, what, name) }

// wrap adds what was being done, and the class, to an error of the client.
func wrap(err error, format string, args ...any) error {
	return natswire.Wrap(product, err, format, args...)
}

func (s *session) subject(topic string) (string, error) {
	if err := checkName("topic", topic); err != nil {
		return "", err
	}
	return "sixnines." + s.run + "." + topic, nil
}

// Provision implements driver.Session. Subjects need no making; it checks that
// the server carries the payloads and reports its settings.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := checkName("topic", topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	for _, group := range t.Groups {
		if err := checkName("group", group); err != nil {
			return driver.Semantics{}, err
		}
	}
	if err := s.client.Control().Flush(ctx); err != nil {
		return driver.Semantics{}, wrap(err, "reach %s", s.client.Servers())
	}
	if limit := s.client.Control().Conn().MaxPayload(); int64(t.MaxSize+natswire.HeaderSize(t.Headers)) > limit {
		return driver.Semantics{}, tooLarge(t.MaxSize, t.Headers, limit)
	}
	return s.semantics(t.Slow), s.client.CheckHeaders(t.Headers)
}

// Deprovision implements driver.Session. The server forgets a subject with its
// last subscription, so nothing is left to remove.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.client.Close(ctx)
	s.mu.Lock()
	consumers := s.consumers
	s.consumers = map[*consumer]struct{}{}
	s.mu.Unlock()
	for c := range consumers {
		c.shut()
	}
	for c := range consumers {
		c.wait(ctx)
	}
	return nil
}
