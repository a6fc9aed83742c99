// Package mqtt is the driver for MQTT 3.1.1 and 5 brokers.
//
// Topic t of run r is the topic s9/r/t. A consumer is an MQTT client with
// a connection of its own, whatever ConsumerSpec.Conn says, because the protocol
// delivers to connections: two subscribers on one of them could not be told
// apart. A group is a shared subscription, $share/group/s9/r/t. MQTT 5 has
// them; some brokers, Mosquitto 2 among them, have them in 3.1.1 too, and
// Provision finds out by trying.
//
// The quality of service decides what an acknowledgement is. 0: no acknowledgement,
// and Done says that the buffer is free. 1: the broker's PUBACK. 2: its PUBCOMP,
// after two round trips. MQTT 5 puts a reason into either, by which a broker
// refuses a message; a broker of MQTT 3.1.1 that will not have a message says
// nothing, or confirms it and throws it away. Provision therefore sends one
// message of the largest size to itself.
//
// The driver makes its own packets (see packet.go): the sending goroutine writes a message
// to the socket, and a table finds the message of an acknowledgement by its number.
// The option client has messages go through the client library of the Eclipse project
// instead, each library as its users have it: its publish that does not wait, its
// handler, its acknowledgements, its keep-alive. What is asked beside the messages,
// when a session opens and closes, stays the driver's own.
//
//   - paho.golang, for version 5. Its asynchronous publish reports no outcome. The driver
//     provides the session that the library keeps for a client, and sees each PUBACK,
//     PUBREC and PUBCOMP in it. The library gets the limit of messages in flight as if it
//     were the broker's.
//   - paho.mqtt.golang, for 3.1.1. Its publish hands a message to another goroutine and
//     returns a token. One goroutine for each connection awaits the tokens, in their order: an
//     acknowledgement that overtakes others counts as late as they are. What the library's
//     goroutine has not taken within half a minute it refuses.
//
// Elsewhere the libraries connect again by themselves (for version 5, the package
// autopaho above it), and then send again what was not
// acknowledged. Here a client of the library ends with its connection, and the driver
// connects again with a new one.
//
// Nothing is sent twice: a producer's session is always a clean one, and what
// was not acknowledged when its connection broke is Done with ErrTimeout, since its
// outcome is unknown. A send while the connection is down fails with
// ErrNotConnected. There are 65535 packet identifiers; sends wait for one
// when they are all in flight, as is the broker's receive maximum.
package mqtt

import (
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// rights are a user's lines in an acl_file of Mosquitto.
func rights(prefix string) []driver.Right {
	own := naming().Begins(prefix)
	if !strings.HasSuffix(own, "/") { // a wildcard stands for whole levels
		own = ""
	}
	return []driver.Right{{Name: "topic readwrite", Value: own + "#"}}
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "mqtt",
		Summary:    "MQTT 3.1.1 and 5: quality of service 0 to 2, shared subscriptions, retained messages",
		DefaultURL: "mqtt://127.0.0.1:1883",
		Schemes:    kit.Names(schemes()...),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			Headers:     true,
			ConsumerAck: true,
			Reconnects:  true,
			Ordered:     true,
			TLS:         true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: "mqtt"} }
