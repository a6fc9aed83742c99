package nsq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/nsqio/go-nsq"
)

// errMalformed is wrapped by what is wrong with a frame.
var errMalformed = errors.New("malformed frame")

// frameMost is the largest frame that is taken for one, in bytes: a message of
// the largest size that nsqd can be set to, and its head.
const frameMost = 1<<31 - 1

// messageHead is the part of a message before its body: when it was published,
// how often it has been sent, its identifier.
const messageHead = 8 + 2 + nsq.MsgIDLength

// message is a message as it came. Its parts are parts of the frame.
type message struct {
	attempts uint16
	id       []byte
	body     []byte
}

func parseMessage(data []byte) (message, error) {
	if len(data) < messageHead {
		return message{}, fmt.Errorf("%w: a message of %d bytes", errMalformed, len(data))
	}
	return message{attempts: binary.BigEndian.Uint16(data[8:]), id: data[10:messageHead], body: data[messageHead:len(data):len(data)]}, nil
}

// appendPub appends the command that publishes payload; head is "PUB topic\n".
func appendPub(b []byte, head string, payload []byte) []byte {
	b = append(b, head...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// appendFin appends the command that finishes the message.
func appendFin(b, id []byte) []byte {
	b = append(b, "FIN "...)
	b = append(b, id...)
	return append(b, '\n')
}

// The sizes of a frames' buffer, in bytes. It starts small because most
// connections carry little, and grows with what a read fills.
const (
	readFirst = 4 << 10
	readMost  = 64 << 10 // unless one frame is larger
)

// frames reads whole frames. One goroutine at a time uses it.
type frames struct {
	src        io.Reader
	buf        []byte
	start, end int
	full       bool // the last read took all the room there was
}

// complete returns the length of the next frame if all of it has been read,
// else how many bytes there must be.
func (f *frames) complete() (whole bool, need int, err error) {
	unread := f.buf[f.start:f.end]
	if len(unread) < 4 {
		return false, 4, nil
	}
	n := binary.BigEndian.Uint32(unread)
	if n < 4 || n > frameMost-4 {
		return false, 0, fmt.Errorf("%w: of %d bytes", errMalformed, n)
	}
	need = 4 + int(n)
	return len(unread) >= need, need, nil
}

// more reports whether the next frame can be had without reading.
func (f *frames) more() bool {
	whole, _, err := f.complete()
	return whole || err != nil
}

// rest returns what has been read ahead, and forgets it: it is the beginning of
// what something that is wrapped around the connection has to read.
func (f *frames) rest() []byte {
	b := bytes.Clone(f.buf[f.start:f.end])
	f.start, f.end = 0, 0
	return b
}

// next returns the next frame's type and its data, which are valid until the
// next call.
func (f *frames) next() (kind int32, data []byte, err error) {
	for {
		whole, need, err := f.complete()
		if err != nil {
			return 0, nil, err
		}
		if whole {
			frame := f.buf[f.start : f.start+need]
			f.start += need
			return int32(binary.BigEndian.Uint32(frame[4:])), frame[8:], nil
		}
		if err := f.fill(need); err != nil {
			return 0, nil, err
		}
	}
}

// fill reads once; need bytes in all are wanted.
func (f *frames) fill(need int) error {
	if f.start > 0 {
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	}
	size := len(f.buf)
	if f.full && size < readMost {
		size *= 2
	}
	// A length may lie: room is made for what comes, not for what is promised.
	if size == 0 || size < need && f.end == size {
		size = max(readFirst, 2*size)
	}
	if size > len(f.buf) {
		f.buf = append(f.buf[:f.end], make([]byte, size-f.end)...)
	}
	n, err := f.src.Read(f.buf[f.end:])
	f.end += n
	f.full = f.end == len(f.buf)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// appendMpub appends the command that publishes n messages, which bodies has
// with their lengths.
func appendMpub(b []byte, topic string, n int, bodies []byte) []byte {
	b = append(append(append(b, "MPUB "...), topic...), '\n')
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(bodies)))
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	return append(b, bodies...)
}
