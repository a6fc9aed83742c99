// Package redisstreams is the driver for Redis streams: XADD, XREAD and consumer
// groups, for Redis 5 or later and for servers that speak its protocol.
//
// Topic t of run r is the stream s9:r:t, which Provision makes and
// Deprovision unlinks. An acknowledgement is the identifier that XADD answers
// with: the entry is in the stream, as durable as the server's append-only file
// makes it, which Semantics says. XADDs are pipelined, see resp.Pipeline; of a
// connection that is lost, what had been written and not answered has an unknown
// outcome, and what had not been written is refused.
//
// A consumer alone reads with XREAD from the beginning of the stream, which is
// the run's own, and knows itself how far it has come. The consumers of a group
// read with XREADGROUP and acknowledge with XACK: every message by default; with none
// they read with NOACK. A consumer without a group that has to acknowledge reads
// through its own group. After a connection was lost a
// group's consumer first reads again what it had not acknowledged; these messages
// are marked as redelivered. If the server has come back without its data,
// streams and groups are made again, and an event says so.
//
// With the option client=library messages go through redigo (Send, Flush and Receive).
// It does not tell what it had written when a connection was lost: all XADDs that were
// not answered are unknown then.
//
// In a cluster producers send XADDs on to the server that has the stream's slot, see
// resp.Pipeline. A consumer of streams of several slots is one for each slot.
//
// XREAD blocks its connection, so every consumer has one of its own, whatever
// the number of connections asked for.
package redisstreams

import (
	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// rights are a user's, as ACL SETUSER takes them.
func rights(prefix string) []driver.Right {
	all := []driver.Right{{Name: "keys", Value: "~" + naming().Begins(prefix) + "*"}}
	return append(all, resp.Commands("", "ping", "xadd", "consumers of messages", "xread", "xreadgroup", "xack", "making and removing streams and groups", "xgroup", "unlink",
		"what an earlier run left", "exists", "depth of groups, streams and groups that exist (--topic, --group)", "xinfo", "depth of a consumer on its own", "xlen",
		"leaving groups that exist (--group)", "xpending", "reading back", "xrange", "sixnines clean", "scan",
		"a cluster", "cluster|info", "cluster|slots", "asking", "reading replicas of a cluster back", "cluster|nodes", "readonly")...)
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "redis-streams",
		Summary:    "Redis streams: stored messages, consumer groups, acknowledgements on both sides",
		DefaultURL: "redis://127.0.0.1:6379",
		Schemes:    resp.Schemes(),
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
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).Reach),
	}
}
