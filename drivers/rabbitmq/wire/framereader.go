package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The sizes of an frameReader's buffer, in bytes: it starts small because most
// connections carry little, and grows when reads fill it.
const (
	readFirst  = 8 << 10
	readBuffer = 128 << 10
)

// frame is one as it lies in the buffer, valid until the next is asked for.
type frame struct {
	kind    byte
	channel uint16
	payload []byte
}

// frameReader cuts what a server writes into frames.
type frameReader struct {
	src        io.Reader
	buf        []byte
	start, end int // what has been read and not yet dealt with
	full       bool
	most       int // largest frame
	// rest is called before a read that may have to wait, unless nothing has
	// happened since the last.
	rest   func()
	handed bool
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: src, buf: make([]byte, readFirst), most: frameMost, rest: func() {}}
}

// next returns the next frame.
func (in *frameReader) next() (frame, error) {
	for {
		unread := in.buf[in.start:in.end]
		need := frameOverhead
		if len(unread) >= 7 {
			size := binary.BigEndian.Uint32(unread[3:])
			if uint64(size)+frameOverhead > uint64(in.most) || unread[0] > frameHeartbeat {
				return frame{}, fmt.Errorf("%w: it sent %q", ErrProtocol, unread[:min(len(unread), 16)])
			}
			need = int(size) + frameOverhead
			if len(unread) >= need {
				if unread[need-1] != frameEnd {
					return frame{}, fmt.Errorf("%w: a frame of type %d ends with %#x", ErrProtocol, unread[0], unread[need-1])
				}
				in.start += need
				in.handed = true
				return frame{unread[0], binary.BigEndian.Uint16(unread[1:]), unread[7 : need-1 : need-1]}, nil
			}
		}
		if err := in.fill(need); err != nil {
			return frame{}, err
		}
	}
}

// fill reads once. What is left of a frame, which is need bytes in all, moves to
// the front of the buffer.
func (in *frameReader) fill(need int) error {
	if in.handed {
		in.handed = false
		in.rest()
	}
	size := len(in.buf)
	if in.full && size < readBuffer {
		size *= 2
	}
	if need > size {
		size = need + readFirst
	}
	if size > len(in.buf) {
		larger := make([]byte, size)
		in.end = copy(larger, in.buf[in.start:in.end])
		in.buf = larger
	} else {
		in.end = copy(in.buf, in.buf[in.start:in.end])
	}
	in.start = 0
	n, err := in.src.Read(in.buf[in.end:])
	in.end += n
	in.full = in.end == len(in.buf)
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}
