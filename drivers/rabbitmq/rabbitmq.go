// Package rabbitmq is the driver for RabbitMQ over AMQP 0-9-1: classic and
// quorum queues, streams consumed as queues, publisher confirms, transactions.
//
// Topic t of run r is the exchange "s9.r/t". A consumer of its own has a
// queue that is bound to the exchanges of its topics, so that each gets every
// message; the consumers of group g share one queue for each topic,
// "s9.r/t/g", which Provision makes. If the run has no consumers, a queue that
// drops its oldest messages replaces them, so that messages are published into a
// queue and not discarded.
//
// A producer has a channel, unless the option channels says how many the
// producers of a connection share. With confirms, a message is done when the
// broker's basic.ack comes; a basic.nack and a basic.return make it fail.
// Without, Done only returns the buffer, and what comes back is reported as
// returned. Consumers acknowledge by themselves, as the option ack_every or
// ConsumerAck says.
//
// When a connection is lost, messages that were not confirmed are done with
// ErrTimeout: it is not known whether the broker has them. The driver connects
// again by itself, declares again what a broker without persistence has forgotten,
// and continues. Nothing is sent twice.
//
// Connections are those of package wire. The client library amqp091-go allocates
// and wakes a goroutine for each message, and makes a channel for each confirm;
// option client=library has messages go through it all the same, for comparison.
package rabbitmq

import (
	"regexp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// product begins the driver's errors, and is its name.
const product = "rabbitmq"

// naming is that of exchanges and queues.
func naming() driver.Naming {
	n := rabbit.Naming()
	n.GivenTopic, n.GivenGroup = "a queue, or EXCHANGE/KEY", "a queue"
	return n
}

// rights are the regular expressions of rabbitmqctl set_permissions.
func rights(prefix string) []driver.Right {
	own := "^" + regexp.QuoteMeta(naming().Begins(prefix))
	return []driver.Right{
		{Name: "configure", Value: own, For: "exchanges and queues, which a run makes and deletes"},
		{Name: "write", Value: own},
		{Name: "write", Value: `^amq\.default$`, For: "option exchange default, and replies"},
		{Name: "read", Value: own},
	}
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       product,
		Summary:    "RabbitMQ by AMQP 0-9-1: classic and quorum queues, streams as queues, confirms",
		DefaultURL: "amqp://127.0.0.1:5672",
		Schemes:    kit.Names(protocol().Schemes...),
		Capabilities: driver.Capabilities{
			Ack:          driver.AckKindBroker,
			RequestReply: true,
			Groups:       true,
			FanOut:       true,
			Headers:      true,
			ConsumerAck:  true,
			Reconnects:   true,
			Ordered:      true,
			Keeps:        true,
			ReadsBack:    true,
			TLS:          true,
			Unreplicated: options.unreplicated(),
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}
