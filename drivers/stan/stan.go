// Package stan is the driver for NATS Streaming (STAN), the log that ran on top
// of NATS before JetStream, by its client library, github.com/nats-io/stan.go.
// Server and library are archived; there is nothing to choose it for but to know
// what one still has.
//
// Topic t of run r is the channel s9.r.t. Channels come into being with
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
// messages one by one, so "every n" sends n acknowledgements together. The library
// calls the consumers of several topics at the same time, one call a topic; the
// driver makes that one after the other.
//
// stan.go does not come back after its connection was lost or the server has
// forgotten it. The driver registers again, as the same client, over a new
// connection. A lost connection takes the acknowledgements that were on their way
// with it. Sends without one are then done with ErrTimeout, since it is not known
// whether the store has them.
//
// What the library does not let the driver keep of the contract:
//   - An acknowledgement that comes after ack_timeout is dropped; the message has
//     been done with ErrTimeout.
//   - Of a message that is being published when the connection ends it does not say
//     whether it was sent. That one is done with ErrTimeout as well.
//   - What it cannot read of an answer or a delivery it drops, and prints that on
//     standard output.
package stan

import (
	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

const product = "stan"

// naming is that of channels.
func naming() driver.Naming {
	n := natswire.Naming()
	n.GivenTopic, n.GivenGroup, n.GroupsJoin = "a channel", "a queue group, or DURABLE:GROUP", true
	n.ListedBy = "/streaming/channelsz at the server's monitoring address"
	return n
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       product,
		Summary:    "NATS Streaming (archived): channels, queue groups, acknowledgements",
		DefaultURL: "nats://127.0.0.1:4222",
		Schemes:    natswire.Schemes(),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,
		},
		Naming:     naming(),
		Rights:     rights,
		Options:    &options,
		Monitoring: "http_url",
		Driver:     driver.New(options, newSession, (*session).reach),
	}
}
