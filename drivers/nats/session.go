package nats

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// session implements driver.Session, driver.RequestReplier and
// driver.ServerInfo. The client is all that there is to close.
type session struct{ *natswire.Client }

func newSession(t driver.Target, o natswire.Options) (session, error) {
	c, err := natswire.NewClient(product, t, o)
	return session{c}, err
}

// tooLarge is the error of payloads that do not fit beside their headers.
func tooLarge(size int, headers []driver.Header, limit int64) error {
	return fmt.Errorf("nats: payloads of %d bytes and headers of %d: %w: the server's max_payload is %d", size, natswire.HeaderSize(headers), driver.ErrTooLarge, limit)
}

// checkName refuses names that are no plain part of a subject.
func checkName(what, name string) error { return natswire.CheckName(product, what, name) }

func (s session) subject(topic string) (string, error) {
	if err := checkName("topic", topic); err != nil {
		return "", err
	}
	return "sixnines." + s.Target.Run + "." + topic, nil
}

// Provision implements driver.Session. Subjects need no making; it checks that
// the server carries the payloads and reports its settings.
func (s session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
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
	if err := s.Control().Flush(ctx); err != nil {
		return driver.Semantics{}, s.Wrap(err, "reach %s", s.Address.String())
	}
	if limit := s.Control().Conn().MaxPayload(); int64(t.MaxSize+natswire.HeaderSize(t.Headers)) > limit {
		return driver.Semantics{}, tooLarge(t.MaxSize, t.Headers, limit)
	}
	return s.semantics(t.Slow), s.CheckHeaders(t.Headers)
}

// Deprovision implements driver.Session. The server forgets a subject with its
// last subscription, so nothing is left to remove.
func (s session) Deprovision(context.Context) error { return nil }

// semantics reports the settings in effect. Slow consumers are the
// library's.
func (s session) semantics(slow bool) driver.Semantics {
	consumption := "push, delivered on the goroutine that reads"
	if slow || !s.Direct() {
		consumption = "push, unlimited queue in the library"
	}
	return driver.Semantics{
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       s.Batching(),
		Consumption:    consumption,
		Transport:      s.Transport(),
		Settings:       s.Settings(),
		Warnings:       s.Warnings(),
	}
}
