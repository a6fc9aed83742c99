// Package relay is a complete driver for a very small broker, the one that
// CONTRIBUTING.md builds step by step. The broker is in this package's test,
// where the driver passes the conformance suite.
//
// The protocol: a frame is an operation (one byte), a number (four bytes, little
// endian), the length of what follows (four bytes), and a body. A client
// publishes (P, number: length of the topic's name, body: topic and payload),
// subscribes (S, number: any of the client's choice, body: topic) and pings (Q).
// The broker sends messages (M, number: the subscription's, body: payload) and
// answers subscriptions and pings in order (K).
package relay

import (
	"context"
	"fmt"
	"net/url"

	"sixnines/driver"
)

// Options are what a scenario's target.options may hold.
type Options struct {
	ReadBuffer driver.ByteSize `option:"read_buffer" min:"512" max:"16777216" doc:"bytes that a connection reads at once, at most"`
}

// DefaultOptions are the options of a scenario that gives none.
func DefaultOptions() Options { return Options{ReadBuffer: 64 << 10} }

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "relay",
		Summary:    "the small broker of the tutorial",
		DefaultURL: "relay://127.0.0.1:7999",
		Capabilities: driver.Capabilities{
			Ack:     driver.AckKindNone, // the broker never answers a publish
			FanOut:  true,
			Ordered: true,
		},
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}

// maxPayload is the largest message that the broker carries, in bytes.
const maxPayload = 1 << 20

func newSession(t driver.Target, o Options) (*session, error) {
	if t.TLS != nil {
		return nil, fmt.Errorf("relay: tls: %w", driver.ErrUnsupported)
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "relay" || u.Host == "" {
		return nil, fmt.Errorf("relay: address %q: %w: want relay://HOST:PORT", t.URL, driver.ErrNotConnected)
	}
	return &session{target: t, address: u.Host, options: o, links: map[linkName]*link{}}, nil
}

// reach asks the broker something once, so that a wrong address fails here and not in
// the middle of a run.
func (s *session) reach(ctx context.Context) error {
	l, err := s.dial(ctx)
	if err != nil {
		return err
	}
	err = l.ask(ctx, 'Q', 0, "")
	l.close()
	<-l.ended
	if err != nil {
		return fmt.Errorf("relay: %s does not answer: %w: %w", s.address, driver.ErrNotConnected, err)
	}
	return nil
}
