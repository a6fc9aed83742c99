// Package amqp10 is the driver for brokers that speak AMQP 1.0, by the client
// library go-amqp.
//
// On ActiveMQ Artemis topic t of run r is the multicast address s9.r.t. Each
// group has a queue there, and each consumer on its own one of its own, so that each
// gets every message. With routing anycast a topic is one queue, which one group
// shares. The driver makes and deletes addresses and queues by messages to Artemis'
// management address, and asks there how many messages a queue holds.
//
// RabbitMQ has AMQP 1.0 by itself from 4.0 on. Topic t of run r is the fanout exchange
// s9.r.t there, and groups and consumers on their own have queues as on Artemis. With
// routing anycast a topic is one queue. The driver makes, deletes and counts by messages
// to /management.
//
// Before 4.0 RabbitMQ has AMQP 1.0 by its plugin rabbitmq_amqp1_0. With a group, topic t is the queue s9.r.t, which the plugin makes when
// somebody attaches to it. Without groups it is the key s9.r.t of the exchange
// amq.topic, from which each consumer has a queue that the plugin names. The plugin
// deletes neither, and nothing in its protocol does.
//
// Of other brokers, and where option address is set, the driver makes and deletes
// nothing: what the addresses name must be there, or be made by the broker.
//
// Each producer and each consumer has an AMQP session of its own, and ends it
// instead of its links: RabbitMQ's plugin answers a detach in a way that go-amqp
// does not take for one. Messages have one data section, and headers as application
// properties.
//
// A message is Done when its outcome has arrived, or, if it is sent settled, when it has
// been written. go-amqp delivers an outcome to the goroutine that waits for that message,
// so one goroutine for each producer waits for outcomes in the order of sending: an
// outcome that overtakes those of earlier messages is seen after them.
// When a session or connection ends, messages without an outcome are done with
// ErrTimeout, and so is one that go-amqp was just writing: whether it did, it does not
// tell. It does not connect again; the driver does, and nothing is sent twice.
//
// go-amqp accepts messages one by one: a consumer that acknowledges after every n
// messages accepts n of them then, each by a frame of its own. Credit is granted by
// the driver, because RabbitMQ's plugin sends more than it was granted now and then,
// after which go-amqp by itself grants no more.
package amqp10

import (
	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// product begins the driver's errors, and is its name.
const product = "amqp10"

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       product,
		Summary:    "AMQP 1.0: ActiveMQ Artemis, RabbitMQ and others, settled and unsettled, queues and multicast addresses",
		DefaultURL: "amqp://127.0.0.1:5672",
		Schemes:    kit.Names(schemes()...),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Headers:     true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,
		},
		Naming:       naming(),
		Rights:       rights,
		Options:      &options,
		ProbeOptions: map[string]any{"address": nil, "source": nil},
		Driver:       driver.New(options, newSession, (*session).reach),
	}
}

// schemes are those of brokers' URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{{Name: "amqp", Port: "5672"}, {Name: "amqps", Port: "5671", TLS: true}}
}
