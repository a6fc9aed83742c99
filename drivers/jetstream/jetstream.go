// Package jetstream is the driver for NATS JetStream: streams that a server, or
// a majority of replicas, stores and acknowledges.
//
// Topic t of run r is the subject s9.r.t, stored in a stream of its own,
// s9-r-t, which Provision makes and Deprovision deletes. A message is
// published with the address of an inbox behind it, and the server's answer
// there is the acknowledgement; nothing is sent twice. What was under way when a
// connection was lost is resolved as ErrTimeout: the server may have stored it.
//
// Consumers of a group share one durable consumer of the stream. A consumer of
// its own has one of its own: by default an ordered one, which acknowledges
// nothing and, where it misses something, asks again for all that follows what
// it got last. Other consumers acknowledge each message unless told otherwise.
//
// The client library connects, logs in and reconnects; messages go past it over
// plain TCP, see package natswire. So do pull requests, flow control and
// acknowledgements of consumers, which are the driver's own.
//
// With option client=library both are left to nats.go/jetstream: PublishMsgAsync with
// its handlers, Consume, ordered consumers and Fetch, Ack and DoubleAck. Streams and
// the server's consumers are made as ever. Retries of publishing are switched off.
// What the library cannot do:
//
//   - It resolves what waits for an acknowledgement when it hears that the connection
//     was lost, which may be after it is back: what has been sent since is resolved as
//     ErrTimeout, too, though the server may acknowledge it.
//   - Its queues of deliveries have limits that cannot be lifted, 500,000 messages and
//     64 MiB. An event tells how many it has dropped; of consumers that acknowledge
//     they come again.
//   - That it may not subscribe to acknowledgements is an event, and no error of
//     Producer, since it subscribes with the first message.
//   - An ordered consumer that cannot be made again is tried again after 1 to 10
//     seconds. One that is closed meanwhile ends when they have passed; it delivers
//     nothing more.
//   - Messages pushed with flow control stop if the server's request for it is lost.
//   - A producer that is closed just after its first message may leave a goroutine of
//     the library behind for good (resetPendingAcksOnReconnect, nats.go 1.55).
package jetstream

import (
	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// product begins every error.
const product = "jetstream"

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "jetstream",
		Summary:    "NATS JetStream: stored streams, push, pull and ordered consumers, work queues",
		DefaultURL: "nats://127.0.0.1:4222",
		Schemes:    natswire.Schemes(),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			Headers:     true,
			ConsumerAck: true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,

			Unreplicated: unreplicated(),
		},
		Naming:     naming(),
		Rights:     rights,
		Options:    &options,
		Monitoring: "monitoring",
		Driver:     driver.New(options, newSession, (*session).reach),
	}
}

// naming is that of subjects.
func naming() driver.Naming {
	n := natswire.Naming()
	n.GivenTopic, n.GivenGroup = "a subject that a stream stores, or STREAM/SUBJECT", "a durable consumer"
	return n
}

// wrap adds what was being done, and the class, to an error of the library.
func wrap(err error, format string, args ...any) error {
	return natswire.Errors(product).Wrap(err, format, args...)
}
