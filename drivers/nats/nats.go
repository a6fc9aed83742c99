// Package nats is the driver for core NATS: publish and subscribe, queue
// groups and request–reply over github.com/nats-io/nats.go.
//
// Core NATS never answers a publish, so there are no acknowledgements: Done
// says that the payload's buffer is free again, and is called inside Send.
// What is sent while a connection is down fails with ErrNotConnected; nothing
// is buffered for later, and no pending limit makes the client drop messages.
// What a batch holds when its connection is lost is reported as dropped.
//
// The library connects, logs in, subscribes and reconnects. Over plain TCP the
// messages themselves go past it, see package natswire, unless option client asks
// for the library: then Publish sends and the callbacks of Subscribe deliver, with
// queues without limit. One clause the library cannot keep: what its write buffer
// holds when a connection is lost is dropped without a word. With write_buffer 1,
// as paced loads have it, it holds nothing.
//
// Topic t of run r is the subject s9.r.t. The broker keeps nothing of it,
// so there is nothing to provision and nothing to remove.
package nats

import (
	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// naming is that of subjects, of which no server has to be told.
func naming() driver.Naming {
	n := natswire.Naming()
	n.GivenTopic, n.GivenGroup, n.GroupsJoin = "a subject", "a queue group", true
	return n
}

// rights are an account's.
func rights(prefix string) []driver.Right {
	own, inboxes := natswire.Subjects(prefix)
	all := []driver.Right{{Name: "publish", Value: own}, {Name: "subscribe", Value: own}}
	if inboxes != own {
		all = append(all, driver.Right{Name: "subscribe", Value: inboxes, For: "replies, where no inbox_prefix is given"},
			driver.Right{Name: "publish", Value: inboxes, For: "responders"})
	}
	return all
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := natswire.DefaultOptions()
	return driver.Entry{
		Name:       "nats",
		Summary:    "core NATS: publish and subscribe, queue groups, request and reply",
		DefaultURL: "nats://127.0.0.1:4222",
		Schemes:    natswire.Schemes(),
		Capabilities: driver.Capabilities{
			Ack:          driver.AckKindNone,
			RequestReply: true,
			Groups:       true,
			FanOut:       true,
			Headers:      true,
			Reconnects:   true,
			Ordered:      true,
			TLS:          true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, session.Reach),
	}
}
