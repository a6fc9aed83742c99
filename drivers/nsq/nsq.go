// Package nsq is the driver for nsqd, the daemon of NSQ.
//
// Topic t of run r is the topic s9.r.t. A group is a channel of its name,
// which delivers each message to one consumer; a consumer without a group has its
// own channel. The driver makes topics and channels before the first
// message, by nsqd's HTTP address, and removes them at the end. Without that
// address it cannot remove anything, and takes ephemeral ones, which end with
// their last consumer; of an ephemeral channel nsqd throws away what does not
// fit in its queue in memory (mem-queue-size).
//
// nsqd answers each PUB or MPUB with OK when the message is in the topic's
// queue, in the order of the commands. It keeps no order of messages, and what
// a consumer has not finished (FIN) in time comes again. A connection has one
// subscription: a consumer of several topics has several connections.
//
// Option client chooses between two clients, which have options, names, topics and
// semantics in common. Nothing is sent twice by either: what was not answered when
// its connection broke is Done with ErrTimeout.
//
// The direct client takes commands and constants from go-nsq. A message is written
// to the socket by the sending goroutine, or, with an unpaced load, as part of an
// MPUB, and answers are counted.
//
// The library client is go-nsq's Producer and Consumer, as programs use them:
// PublishAsync, or MultiPublishAsync flat out, whose results come by a channel, and
// a handler whose messages are finished when it returns. It is set to give up no
// message, to back off from none, and to wait for nsqd for twice the
// heartbeat interval, as the direct client does, instead of a second. What remains
// of go-nsq 1.1.0:
//
//   - It dials by itself, and tells of lost connections in
//     its log only, from which the driver takes its events.
//   - When a connection is lost, a message that was never written fails like one
//     that nsqd may have: both are Done with ErrTimeout.
//   - It does not read nsqd's answer to a subscription. A channel that is made by
//     HTTP is there before; an ephemeral one may not be when Consumer returns, and
//     a subscription that nsqd refuses is tried again and again.
//   - It checks the server's certificate for the host of the address, and for no
//     other name.
//   - A Producer that is stopped while answers are on their way may leave
//     goroutines behind, and sockets are closed by the garbage collector.
package nsq

import (
	"regexp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// rights are an authorization of the server that nsqd asks (auth-http-address): a permission, the regular expression of the
// topics that it is for, and .* for all channels. nsqd's HTTP address has no login.
func rights(prefix string) []driver.Right {
	own := "^" + regexp.QuoteMeta(naming().Begins(prefix))
	return []driver.Right{
		{Name: "publish", Value: own, For: "messages, and one to itself before the run, not with --topic"},
		{Name: "subscribe", Value: own},
	}
}

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "nsq",
		Summary:    "NSQ: topics and channels of nsqd",
		DefaultURL: "nsq://127.0.0.1:4150/?http=127.0.0.1:4151",
		Schemes:    kit.Names(schemes()...),
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Keeps:       true,
			ReadsBack:   true,
			Reconnects:  true,
			MinSize:     1,
			TLS:         true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}
