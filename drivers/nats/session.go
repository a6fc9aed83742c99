package nats

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
	"sixnines/semantics"
)

// session implements driver.Session and driver.RequestReplier. The client is all that there is to close.
type session struct{ *natswire.Client }

func newSession(t driver.Target, o natswire.Options) (session, error) {
	c, err := natswire.NewClient("nats", t, o)
	return session{c}, err
}

// Provision implements driver.Session. Subjects need no making; it checks that
// the server carries the payloads and reports its settings.
func (s session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for what, names := range map[string][]string{"topic": t.Topics, "group": t.Groups} {
		for _, name := range names {
			if err := natswire.CheckName(s.Driver, what, name); err != nil {
				return driver.Semantics{}, err
			}
		}
	}
	if err := s.Control().Flush(ctx); err != nil {
		return driver.Semantics{}, s.Wrap(err, "reach %s", s.Address.String())
	}
	headers := natswire.HeaderSize(t.Headers)
	if limit := s.Control().Conn().MaxPayload(); int64(t.MaxSize+headers) > limit {
		return driver.Semantics{}, fmt.Errorf("nats: payloads of %d bytes and headers of %d: %w: the server's max_payload is %d", t.MaxSize, headers, driver.ErrTooLarge, limit)
	}
	consumption := "push, delivered on the goroutine that reads"
	if t.Slow || !s.Direct() {
		consumption = "push, unlimited queue in the library"
	}
	transport, encrypted := s.Transport()
	return driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotStored, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:         s.Software(),
		Server:         s.Server("nats"),
		Refusals:       driver.RefusalsReported, // the server sends an error for a forbidden subject
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       s.Batching(),
		Consumption:    consumption,
		Transport:      transport,
		Encrypted:      encrypted,
		Settings:       s.Settings(),
		Warnings:       s.Warnings(),
	}, s.CheckHeaders(t.Headers)
}

// Deprovision implements driver.Session. The server forgets a subject with its
// last subscription, so nothing is left to remove.
func (s session) Deprovision(context.Context) error { return nil }
