// Package wire is a client's side of the RabbitMQ stream protocol, cut down to
// what a driver needs between its messages' payloads and the socket: connect,
// create and delete streams, publish, be told of confirmations, subscribe.
//
// A message is appended where it is written from, to the frame of those that go
// with it, and read where it lies. Whatever comes from the server is handed to
// its [Publisher] or [Subscriber] on the one goroutine that reads the connection.
//
// Keys of commands, codes and the order of fields are those of the protocol's
// description in RabbitMQ's repository (PROTOCOL.adoc of rabbitmq_stream), in
// their first version, which servers from 3.9 on understand.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"sixnines/drivers/internal/rabbit"
)

// key numbers a command. Answers have the highest bit set.
type key uint16

// The commands.
const (
	declarePublisher       key = 1
	publish                key = 2
	publishConfirm         key = 3
	publishError           key = 4
	queryPublisherSequence key = 5
	deletePublisher        key = 6
	subscribe              key = 7
	deliver                key = 8
	credit                 key = 9
	storeOffset            key = 10
	queryOffset            key = 11
	unsubscribe            key = 12
	createStream           key = 13
	deleteStream           key = 14
	metadata               key = 15
	metadataUpdate         key = 16
	peerProperties         key = 17
	saslHandshake          key = 18
	saslAuthenticate       key = 19
	tune                   key = 20
	open                   key = 21
	closing                key = 22
	heartbeat              key = 23

	answer key = 0x8000
)

// version is that of all commands.
const version = 1

// Code is a server's answer.
type Code uint16

// The codes that a driver tells apart.
const (
	OK                 Code = 1
	NoStream           Code = 2
	StreamExists       Code = 5
	NotAvailable       Code = 6
	NoMechanism        Code = 7
	LoginFailed        Code = 8
	LoginError         Code = 9
	LoopbackOnly       Code = 11
	NoVHost            Code = 12
	FrameTooLarge      Code = 14
	InternalError      Code = 15
	AccessRefused      Code = 16
	PreconditionFailed Code = 17
	NoOffset           Code = 19
)

// String says what a code means.
func (c Code) String() string {
	switch c {
	case OK:
		return "ok"
	case NoStream:
		return "the stream does not exist"
	case StreamExists:
		return "the stream exists already"
	case NotAvailable:
		return "the stream is not available"
	case NoMechanism:
		return "this way of logging in is not supported"
	case LoginFailed:
		return "authentication failure"
	case LoginError:
		return "the login is malformed"
	case LoopbackOnly:
		return "this user may only connect from the server's own machine"
	case NoVHost:
		return "no access to the virtual host"
	case FrameTooLarge:
		return "frame too large"
	case InternalError:
		return "internal error"
	case AccessRefused:
		return "access refused"
	case PreconditionFailed:
		return "precondition failed"
	case NoOffset:
		return "no offset is stored"
	}
	return fmt.Sprintf("code %d", uint16(c))
}

// Error is an answer that is not OK.
type Error struct {
	Code Code
	Text string // the server's own words, where there are any
}

// Error implements error.
func (e *Error) Error() string {
	if e.Text != "" {
		return "the server says: " + e.Code.String() + ": " + e.Text
	}
	return "the server says: " + e.Code.String()
}

// ErrProtocol says that the server wrote what is not the stream protocol.
var ErrProtocol = errors.New("not the stream protocol as this client understands it")

// Publisher takes what the server has to say to a publisher. Its methods are
// called one at a time, on the goroutine that reads the connection.
type Publisher interface {
	// Confirm takes the publishing IDs of entries that the server has taken. The
	// IDs are valid until it returns.
	Confirm(ids IDs)
	// Refuse takes one that it has not.
	Refuse(id uint64, why Code)
	// End is called once, last.
	End(err error)
}

// Subscriber takes what the server has to say to a subscription, likewise.
type Subscriber interface {
	// Deliver takes a message and its place in the stream. The body is valid until
	// it returns.
	Deliver(offset uint64, body []byte)
	// End is called once, last.
	End(err error)
}

// Keeper is a Subscriber that may keep messages for later.
type Keeper interface {
	Subscriber
	// Behind comes behind the last message of a chunk. The server sends another one when
	// credit is called, by any goroutine, once these are dealt with.
	Behind(credit func())
}

// IDs are publishing IDs as they lie in a frame.
type IDs []byte

// Len returns how many there are.
func (ids IDs) Len() int { return len(ids) / 8 }

// At returns the i-th.
func (ids IDs) At(i int) uint64 { return binary.BigEndian.Uint64(ids[8*i:]) }

// begin begins a frame, which end ends.
func begin(b []byte, k key) []byte {
	return append(b, 0, 0, 0, 0, byte(k>>8), byte(k), 0, version)
}

// end ends the frame that begins at start.
func end(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

func appendMap(b []byte, m map[string]string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(m)))
	for name, value := range m {
		b = appendString(appendString(b, name), value)
	}
	return b
}

// cursor reads the fields of a frame.
type cursor struct{ rabbit.Cursor }

func newCursor(b []byte) cursor { return cursor{rabbit.Cursor{Rest: b}} }

func (c *cursor) string() string {
	n := int(c.Uint16())
	if n == 0xFFFF { // null
		return ""
	}
	return string(c.Bytes(n))
}

// count reads how many things of at least size bytes follow.
func (c *cursor) count(size int) int {
	n := c.Uint32()
	if uint64(n)*uint64(size) > uint64(len(c.Rest)) {
		c.Fail()
		return 0
	}
	return int(n)
}

func (c *cursor) stringMap() map[string]string {
	m := map[string]string{}
	for range c.count(4) {
		name := c.string()
		m[name] = c.string()
	}
	return m
}
