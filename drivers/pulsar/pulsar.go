// Package pulsar is the driver for Apache Pulsar, by its client library
// pulsar-client-go.
//
// Topic t of run r is persistent://TENANT/NAMESPACE/s9.r.t, or
// non-persistent://…. A group is a subscription of its name, shared unless option
// subscription says otherwise. A consumer on its own has an exclusive subscription
// of its own, so that each gets every message. Pulsar's web service makes and
// removes topics and subscriptions, and tells how much a subscription holds.
//
// A message is done when the library calls back. Its receipt says that the bookies
// have a persistent message, and that the broker has a non-persistent one: there a
// receipt without a place says that the broker has thrown the message away, which
// the library reports as success and the driver as refused.
//
// The library has behaviour that cannot be switched off:
//
//   - It connects again by itself. Until then it keeps what is sent, and it sends
//     what had no receipt once more: a broker that does not deduplicate then has
//     the message twice.
//   - A producer that is closed, or whose topic is deleted, forgets what lies in
//     its queue without calling back. These messages stay unresolved.
//   - It takes two messages of a non-persistent topic for one where it groups
//     acknowledgements, because all of them have the same place. The driver
//     acknowledges none of them by default; if asked to, it acknowledges each at once.
//   - It writes to its log only why it cannot connect, and when it loses and regains
//     a connection. The driver reads that log, see journal.
//   - Its calls have no contexts. What outlives its context ends in a goroutine, at
//     the latest after operation_timeout.
//   - It dials by itself.
package pulsar

import (
	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "pulsar",
		Summary:    "Apache Pulsar: persistent and non-persistent topics, shared, failover and key-shared subscriptions",
		DefaultURL: "pulsar://127.0.0.1:6650",
		Schemes:    kit.Names(schemes()...),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Keys:        true,
			Headers:     true,
			OwnsDialing: true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}
