// Package stan is the driver for NATS Streaming (STAN), the log that ran on top
// of NATS before JetStream. Server and client are archived; there is nothing to
// choose it for but to know what one still has.
//
// Topic t of run r is the channel sixnines.r.t. Channels come into being with
// their first message or subscription, and no client can delete one: the server
// forgets a channel by itself if it was started with max_inactivity, else the
// run's name stays in it. A run's channels are therefore never those of another.
//
// A group is a queue group. With the option durable it is a durable one, which
// the server keeps over a restart and Deprovision removes. A consumer without
// a group subscribes for itself; when it has been disconnected it goes on behind
// the last message it saw.
//
// Every message is acknowledged: by the server to the producer, when its store
// has taken it, and by the consumer to the server. The protocol acknowledges
// messages one by one, so "every n" sends n acknowledgements together.
//
// stan.go makes a map entry, a timer and a closure for each message. The driver
// therefore speaks the protocol (stan.go/pb) itself, over nats.go: a message's
// identifier names its place in a table, and no clock is involved. The option
// publish can leave publishing to stan.go.
//
// A connection that is lost takes the acknowledgements that were on their way
// with it. Sends without one are then done with ErrTimeout, since nobody knows
// whether the store has them. nats.go's reconnecting and stan.go's limit of
// unanswered messages and timeout are switched off or as options say.
package stan

import (
	"context"

	"sixnines/driver"
)

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "stan",
		Summary:    "NATS Streaming (archived): channels, queue groups, acknowledgements",
		DefaultURL: "nats://127.0.0.1:4222",
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			TLS:         true,
		},
		Options: &options,
		Driver:  Driver{},
	}
}

// Driver opens sessions with NATS Streaming servers. The zero value is ready to
// use.
type Driver struct{}

// Open implements driver.Driver. It keeps one connection of its own, beside
// those of producers and consumers.
func (Driver) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	s, err := newSession(t, o)
	if err != nil {
		return nil, err
	}
	if s.control, err = s.links.Acquire(ctx, linkKey{role: roleControl}); err != nil {
		s.cancel()
		return nil, err
	}
	return s, nil
}
