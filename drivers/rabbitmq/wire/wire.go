// Package wire is a client's side of AMQP 0-9-1 as RabbitMQ speaks it, cut down
// to what a driver needs between its messages' payloads and the socket:
// connect, open channels, publish, be told of confirmations and returns,
// consume and acknowledge.
//
// It exists because of what a message costs otherwise. A frame is built where it
// is written from, and read where it lies: nothing is allocated, queued, looked
// up in a map or handed to another goroutine between a call and the socket.
// Whatever comes from the server is handed to the [Handler] of its channel on
// the one goroutine that reads the connection.
//
// Numbers of classes and methods, and the order of their fields, are those of
// the AMQP 0-9-1 specification with RabbitMQ's extensions (basic.nack,
// confirm.select, connection.blocked, consumer_cancel_notify).
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of frames, and the octet that ends each.
const (
	frameMethod    = 1
	frameHeader    = 2
	frameBody      = 3
	frameHeartbeat = 8
	frameEnd       = 0xCE

	frameOverhead = 8       // bytes of a frame beside its payload
	frameLeast    = 4096    // of frame_max that both sides must take
	frameMost     = 1 << 20 // of frame_max that is asked for
)

// method is a class and method as they stand in a frame.
type method uint32

// The methods.
const (
	connectionStart     method = 10<<16 | 10
	connectionStartOK   method = 10<<16 | 11
	connectionSecure    method = 10<<16 | 20
	connectionTune      method = 10<<16 | 30
	connectionTuneOK    method = 10<<16 | 31
	connectionOpen      method = 10<<16 | 40
	connectionOpenOK    method = 10<<16 | 41
	connectionClose     method = 10<<16 | 50
	connectionCloseOK   method = 10<<16 | 51
	connectionBlocked   method = 10<<16 | 60
	connectionUnblocked method = 10<<16 | 61
	channelOpen         method = 20<<16 | 10
	channelOpenOK       method = 20<<16 | 11
	channelFlow         method = 20<<16 | 20
	channelFlowOK       method = 20<<16 | 21
	channelClose        method = 20<<16 | 40
	channelCloseOK      method = 20<<16 | 41
	basicQos            method = 60<<16 | 10
	basicQosOK          method = 60<<16 | 11
	basicConsume        method = 60<<16 | 20
	basicConsumeOK      method = 60<<16 | 21
	basicCancel         method = 60<<16 | 30
	basicPublish        method = 60<<16 | 40
	basicReturn         method = 60<<16 | 50
	basicDeliver        method = 60<<16 | 60
	basicAck            method = 60<<16 | 80
	basicNack           method = 60<<16 | 120
	confirmSelect       method = 85<<16 | 10
	confirmSelectOK     method = 85<<16 | 11
	txSelect            method = 90<<16 | 10
	txSelectOK          method = 90<<16 | 11
	txCommit            method = 90<<16 | 20
	txCommitOK          method = 90<<16 | 21
)

// ErrProtocol says that the server wrote what is no AMQP 0-9-1.
var ErrProtocol = errors.New("not AMQP 0-9-1 as this client understands it")

// Error is what a server gives as its reason to close a connection or channel.
type Error struct {
	Code uint16 // as in the specification: 404 not found, 406 precondition failed, …
	Text string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("the server says %d %s", e.Code, e.Text) }

// Handler takes what the server has to say on a channel. Its methods are called
// one at a time, on the goroutine that reads the connection: they hold up all of
// its channels, and must not wait for anything that the connection brings.
type Handler interface {
	// Deliver takes a message for a consumer.
	Deliver(d Delivery)
	// Confirm tells that the server took (or, if not ok, refused) the message
	// that was the tag-th published on the channel, from 1; if multiple, also
	// all before it that have not been told of.
	Confirm(tag uint64, multiple, ok bool)
	// Return takes a mandatory message back that led to no queue. Its Confirm
	// follows, where there are any.
	Return(r Returned)
	// End is called once, last: the channel is of no use any more. The error is
	// rabbit.ErrClosed or of the socket, an [*Error] of the server, or wraps
	// [ErrProtocol].
	End(err error)
}

// Delivery is a message for a consumer. Its slices are valid until the handler
// returns.
type Delivery struct {
	Consumer    uint16 // the number that was given to Consume
	Tag         uint64
	Redelivered bool
	Properties  Properties
	Body        []byte
}

// Returned is a message that led nowhere. Body is valid until the handler
// returns.
type Returned struct {
	Code uint16
	Text string
	Body []byte
}

// appendMethod begins a method's frame. endFrame ends it.
func appendMethod(b []byte, channel uint16, m method) []byte {
	b = append(b, frameMethod, byte(channel>>8), byte(channel), 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, uint32(m))
}

// endFrame ends the frame that begins at start.
func endFrame(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start+3:], uint32(len(b)-start-7))
	return append(b, frameEnd)
}

func appendShort(b []byte, s string) []byte {
	s = s[:min(len(s), 255)]
	return append(append(b, byte(len(s))), s...)
}

func appendLong(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}
