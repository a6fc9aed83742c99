package nullbroker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// MaxPayload is the largest payload in bytes that the broker carries.
const MaxPayload = 16 << 20

// MaxName is the longest name of a topic or group in bytes.
const MaxName = 255

// The protocol's first words.
const (
	magic   = 0x4c4c554e // "NULL"
	version = 1
)

// Op says what a frame is.
type Op byte

// The ops, see the package comment.
const (
	OpHello       Op = 'H'
	OpTopic       Op = 'T'
	OpSubscribe   Op = 'S'
	OpUnsubscribe Op = 'U'
	OpPublish     Op = 'P'
	OpConfirmed   Op = 'C' // publish, and confirm
	OpPing        Op = 'G'

	OpWelcome Op = 'W'
	OpDone    Op = 'O'
	OpMessage Op = 'M'
	OpAck     Op = 'A'
	OpRefused Op = 'E'
)

// lengthSize is the size of a frame's length.
const lengthSize = 4

// headMost is the most that a frame has beside its payload, after the length.
const headMost = 1 + 4 + 4 + 2 + MaxName

// maxFrame is the largest length of a frame.
const maxFrame = headMost + MaxPayload

// ErrProtocol says that a peer does not speak the protocol.
var ErrProtocol = errors.New("not the null broker's protocol")

// Frame is a decoded frame. Its slices are parts of what it was decoded from.
type Frame struct {
	Op Op
	// Number is the request of T, S, U, G and O, the subscription of M, the
	// handle of P and C, and the message of A.
	Number uint32
	// Second is the handle of T, the subscription of S and U, and the number of
	// a C.
	Second uint32
	Name   []byte // the topic of T and S, the reply topic of P, C and M
	Group  []byte // of S
	// Payload of P, C and M; the words of E.
	Payload []byte
	// Tail is, of P, C and M, all from the length of the reply topic on: what
	// is the same in the message as in its publication.
	Tail    []byte
	Welcome Welcome // of W
}

// Welcome is what the broker says of itself.
type Welcome struct {
	MaxPayload uint32
	Seed       uint64
	Law        string // of the delays
	Server     string // the law of the service times; empty: there is no server
}

// Decode decodes the frame at the start of b. n is its size in b; 0 means that
// b does not hold all of it, and then need is how many bytes it takes (4 while
// not even that is known). An error wraps [ErrProtocol]. Lengths beyond what the
// protocol allows are refused before anything is waited for.
func Decode(b []byte) (f Frame, n, need int, err error) {
	if len(b) < lengthSize {
		return f, 0, lengthSize, nil
	}
	length := binary.LittleEndian.Uint32(b)
	if length == 0 || length > maxFrame {
		return f, 0, 0, fmt.Errorf("%w: a frame of %d bytes; there are 1 to %d", ErrProtocol, length, maxFrame)
	}
	n = lengthSize + int(length)
	if len(b) < n {
		return f, 0, n, nil
	}
	if f, err = decode(Op(b[lengthSize]), b[lengthSize+1:n:n]); err != nil {
		return Frame{}, 0, 0, err
	}
	return f, n, 0, nil
}

// decode decodes the fields of a frame.
func decode(op Op, b []byte) (Frame, error) {
	f := Frame{Op: op}
	short := func() (Frame, error) {
		return Frame{}, fmt.Errorf("%w: %q has a frame of %d bytes", ErrProtocol, byte(op), len(b)+1)
	}
	word := func() (v uint32, ok bool) {
		if len(b) < 4 {
			return 0, false
		}
		v, b = binary.LittleEndian.Uint32(b), b[4:]
		return v, true
	}
	words := func(to ...*uint32) bool {
		for _, w := range to {
			v, ok := word()
			if !ok {
				return false
			}
			*w = v
		}
		return true
	}
	ok := false
	switch op {
	case OpHello:
		if ok = len(b) == 5; ok && (binary.LittleEndian.Uint32(b) != magic || b[4] != version) {
			return Frame{}, fmt.Errorf("%w: it wants another version", ErrProtocol)
		}
	case OpTopic:
		ok = words(&f.Number, &f.Second) && named(b)
		f.Name = b
	case OpSubscribe:
		if ok = words(&f.Number, &f.Second); ok {
			f.Group, b, ok = prefixed(b)
			ok = ok && named(b)
			f.Name = b
		}
	case OpUnsubscribe:
		ok = words(&f.Number, &f.Second) && len(b) == 0
	case OpPing, OpDone, OpAck:
		ok = words(&f.Number) && len(b) == 0
	case OpPublish, OpMessage:
		ok = words(&f.Number) && f.tail(b)
	case OpConfirmed:
		ok = words(&f.Number, &f.Second) && f.tail(b)
	case OpRefused:
		f.Payload, ok = b, true
	case OpWelcome:
		if ok = len(b) >= 12; ok {
			law, server, _ := strings.Cut(string(b[12:]), "\n")
			f.Welcome = Welcome{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:]), law, server}
		}
	default:
		return Frame{}, fmt.Errorf("%w: a frame begins with %q", ErrProtocol, byte(op))
	}
	if !ok {
		return short()
	}
	return f, nil
}

// tail splits what P, C and M end with.
func (f *Frame) tail(b []byte) (ok bool) {
	f.Tail = b
	f.Name, f.Payload, ok = prefixed(b)
	return ok && len(f.Payload) <= MaxPayload
}

// named reports whether b can be a topic's name.
func named(b []byte) bool { return len(b) >= 1 && len(b) <= MaxName }

// prefixed splits b, which begins with the length of a name.
func prefixed(b []byte) (name, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > MaxName || len(b) < 2+n {
		return nil, nil, false
	}
	return b[2 : 2+n : 2+n], b[2+n:], true
}

// begin appends a frame's length, op and numbers; rest is how many bytes follow.
func begin(b []byte, op Op, rest int, numbers ...uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(1+4*len(numbers)+rest))
	b = append(b, byte(op))
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// appendHello appends a client's first frame.
func appendHello(b []byte) []byte { return append(begin(b, OpHello, 1, magic), version) }

// AppendTopic appends the declaration of a topic.
func AppendTopic(b []byte, request, handle uint32, topic string) []byte {
	return append(begin(b, OpTopic, len(topic), request, handle), topic...)
}

// AppendSubscribe appends a subscription; group may be empty.
func AppendSubscribe(b []byte, request, subscription uint32, group, topic string) []byte {
	b = begin(b, OpSubscribe, 2+len(group)+len(topic), request, subscription)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(group)))
	return append(append(b, group...), topic...)
}

// AppendUnsubscribe appends the end of a subscription.
func AppendUnsubscribe(b []byte, request, subscription uint32) []byte {
	return begin(b, OpUnsubscribe, 0, request, subscription)
}

// AppendPing appends a question that is answered in its turn.
func AppendPing(b []byte, request uint32) []byte { return begin(b, OpPing, 0, request) }

// AppendPublish appends a publication without confirmation; reply may be empty.
// It does not allocate if b has room.
func AppendPublish(b []byte, handle uint32, reply string, payload []byte) []byte {
	b = begin(b, OpPublish, 2+len(reply)+len(payload), handle)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(reply)))
	return append(append(b, reply...), payload...)
}

// AppendConfirmed appends a publication that the broker confirms by its number.
func AppendConfirmed(b []byte, handle, number uint32, reply string, payload []byte) []byte {
	b = begin(b, OpConfirmed, 2+len(reply)+len(payload), handle, number)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(reply)))
	return append(append(b, reply...), payload...)
}

func appendMessage(b []byte, subscription uint32, tail []byte) []byte {
	return append(begin(b, OpMessage, len(tail), subscription), tail...)
}

func appendWelcome(b []byte, w Welcome) []byte {
	text := w.Law
	if w.Server != "" {
		text += "\n" + w.Server
	}
	b = begin(b, OpWelcome, 8+len(text), w.MaxPayload)
	b = binary.LittleEndian.AppendUint64(b, w.Seed)
	return append(b, text...)
}
