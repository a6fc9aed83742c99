package nsq

import (
	"encoding/binary"
	"errors"
	"fmt"

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

// frameSize returns how many bytes the frame has that unread begins with, see
// kit.NewFrames.
func frameSize(unread []byte) (int, error) {
	if len(unread) < 4 {
		return 4, nil
	}
	n := binary.BigEndian.Uint32(unread)
	if n < 4 || n > frameMost-4 {
		return 0, fmt.Errorf("%w: of %d bytes", errMalformed, n)
	}
	return 4 + int(n), nil
}
