// Package redis is the driver for Redis publish and subscribe, plain or sharded,
// for Redis itself and for servers that speak its protocol.
//
// A publish is answered with the number of subscribers to whose output buffers
// the server has added the message; that answer is the acknowledgement. It
// proves that the server has read and passed on the message, not that a subscriber
// got it: Redis stores nothing, and disconnects a subscriber that is too far behind.
// Publishes that reach no subscriber, although some should exist, are reported as
// returned. With the option acks: none the server is asked not to answer at all.
//
// Publishes are pipelined, see resp.Pipeline. A lost connection is made again and
// subscriptions with it; what had been written and not answered by then has an
// unknown outcome, what had not been written is refused, and so is what is sent
// meanwhile. Nothing is buffered for later.
//
// With the option client=library messages go through redigo (Send, Flush and Receive;
// PubSubConn). It does not tell what it had written when a connection was lost: all that
// was not answered is unknown then. It cannot go without answers.
//
// Topic t of run r is the channel s9.r.t. The server keeps nothing of it,
// so there is nothing to provision and nothing to remove. Redis has no groups:
// every subscriber gets every message.
package redis

import (
	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// rights are a user's, as ACL SETUSER takes them.
func rights(prefix string) []driver.Right {
	all := []driver.Right{{Name: "channels", Value: "&" + naming().Begins(prefix) + "*"}}
	return append(all, resp.Commands("", "ping", "publish", "subscribe", "unsubscribe", "option sharded", "spublish", "ssubscribe", "sunsubscribe",
		"option acks none", "client|reply", "multi", "discard", "a cluster", "cluster|info", "cluster|slots")...)
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "redis",
		Summary:    "Redis publish and subscribe: channels, patterns and sharded channels",
		DefaultURL: "redis://127.0.0.1:6379",
		Schemes:    resp.Schemes(),
		Capabilities: driver.Capabilities{
			Ack:        driver.AckKindBroker,
			FanOut:     true,
			Reconnects: true,
			Ordered:    true,
			TLS:        true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).Reach),
	}
}
