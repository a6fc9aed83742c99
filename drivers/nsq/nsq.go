// Package nsq is the driver for nsqd, the daemon of NSQ.
//
// Topic t of run r is the topic sixnines.r.t. A group is a channel of its name,
// of which each message goes to one consumer; a consumer on its own has a
// channel of its own. The driver makes topics and channels before the first
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
// The client go-nsq is used for its commands and constants. Its producer hands
// each message to a goroutine of its own and its answer to a channel, and fails
// what is in flight if nsqd takes more than a second to read; its consumer gives
// messages up that have come five times. Here a message is written to the socket
// by whoever sends it, or flat out as part of an MPUB, and answers are counted.
// Nothing is sent twice: what was not answered when its connection broke is Done
// with ErrTimeout.
package nsq

import (
	"context"

	"sixnines/driver"
)

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "nsq",
		Summary:    "NSQ: topics and channels of nsqd",
		DefaultURL: "nsq://127.0.0.1:4150/?http=127.0.0.1:4151",
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Keeps:       true,
			Reconnects:  true,
			MinSize:     1,
			TLS:         true,
		},
		Options: &options,
		Driver:  Driver{},
	}
}

// Driver opens sessions with nsqd. The zero value is ready to use.
type Driver struct{}

// Open implements driver.Driver. It introduces itself once to learn what nsqd is
// and what its limits are.
func (Driver) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	s, err := newSession(t, o)
	if err != nil {
		return nil, err
	}
	if err := s.greet(ctx); err != nil {
		s.cancel()
		return nil, err
	}
	return s, nil
}
