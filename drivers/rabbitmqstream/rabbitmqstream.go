// Package rabbitmqstream is the driver for RabbitMQ streams over their own
// protocol.
//
// Topic t of run r is the stream "s9.r.t". Each consumer reads it by
// itself, from what is written after it has subscribed, so that each gets every
// message; there are no groups, because brokers before 3.11 know none, and
// later ones give all of a group's messages to one of its consumers. Super
// streams, which are several streams under one name, are not measured either.
//
// A message is done when the broker confirms it: when a majority of the stream's
// replicas has it. Consumers acknowledge by storing their offset. When a
// connection is lost, messages that were not confirmed are done with ErrTimeout: it
// is not known whether the broker has them. The driver connects again by itself;
// consumers continue after the last message they got. Nothing is sent twice.
//
// Connections are those of package wire. The client library
// rabbitmq-stream-go-client dials by itself, hands each message from goroutine to
// goroutine with a map entry for each confirmation, and waits by the half-second when
// it closes; none of that is the broker's. The option client has messages go through
// it all the same, for comparison; streams are made by a connection of our own then,
// too. What the library cannot keep of the contract of package driver:
//
//   - It takes no dial function, see Options.Adjust. Where the broker
//     stops reading, the library's heartbeats and its close wait behind the write that
//     hangs, and that cannot be cut: a loss is noticed late, and goroutines of the
//     library stay until the broker reads again or the kernel gives up.
//   - When a connection is lost it drops some outcomes: those of most messages in an
//     entry of several, and now and then that of a message that it had queued. So all
//     that is not answered then is done with ErrTimeout, though some was never written.
//   - It knows no contexts. What it goes on with after one has ended is closed when it
//     comes to an end.
//
// It does not connect again by itself, sends nothing twice, and gives up no
// confirmation before its connection: the time that it has for that is a day.
package rabbitmqstream

import (
	"regexp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// product begins the driver's errors, and is its name.
const product = "rabbitmq-stream"

// rights are the regular expressions of rabbitmqctl set_permissions.
func rights(prefix string) []driver.Right {
	own := "^" + regexp.QuoteMeta(naming().Begins(prefix))
	return []driver.Right{
		{Name: "configure", Value: own, For: "streams, which a run makes and deletes, not with --topic"},
		{Name: "write", Value: own},
		{Name: "read", Value: own},
	}
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       product,
		Summary:    "RabbitMQ streams by their own protocol: confirms, sub-entries, stored offsets",
		DefaultURL: "rabbitmq-stream://127.0.0.1:5552",
		Schemes:    kit.Names(protocol().Schemes...),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			FanOut:      true,
			Headers:     true,
			ConsumerAck: true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,

			Unmovable: driver.Lack{Why: "the leader of a stream cannot be chosen", Instead: "use driver rabbitmq with the option queue_type set to quorum"},
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}
