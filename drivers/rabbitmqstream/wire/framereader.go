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

// frameMost is the largest frame that is taken: what servers send is a chunk of
// whatever size it was written in, whatever was agreed on for what they get.
const frameMost = 256 << 20

// frameReader cuts what a server writes into frames.
type frameReader struct {
	src        io.Reader
	buf        []byte
	start, end int // what has been read and not yet dealt with
	full       bool
	rest       func() // called before a read that may have to wait, after frames
	handed     bool
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: src, buf: make([]byte, readFirst), rest: func() {}}
}

// next returns the key and the rest of the next frame, valid until it is called
// again.
func (in *frameReader) next() (key, cursor, error) {
	for {
		unread := in.buf[in.start:in.end]
		need := 8
		if len(unread) >= 8 {
			size := binary.BigEndian.Uint32(unread)
			if size < 4 || size > frameMost {
				return 0, cursor{}, fmt.Errorf("%w: it sent %q", ErrProtocol, unread[:8])
			}
			need = 4 + int(size)
			if len(unread) >= need {
				in.start += need
				in.handed = true
				return key(binary.BigEndian.Uint16(unread[4:])), cursor{rest: unread[8:need:need]}, nil
			}
		}
		if err := in.fill(need); err != nil {
			return 0, cursor{}, err
		}
	}
}

// fill reads once. What is left of a frame, which is need bytes in all, moves to
// the front of the buffer. The buffer grows no faster than bytes come: a length
// alone is no reason to believe in it.
func (in *frameReader) fill(need int) error {
	if in.handed {
		in.handed = false
		in.rest()
	}
	size := len(in.buf)
	if in.full && (size < readBuffer || size < need) {
		size *= 2
	}
	if size > len(in.buf) {
		larger := make([]byte, size)
		in.end = copy(larger, in.buf[in.start:in.end])
		in.buf = larger
	} else {
		in.end = copy(in.buf, in.buf[in.start:in.end])
	}
	in.start = 0
	if in.end == len(in.buf) { // a frame that fills it to the last byte
		in.buf = append(in.buf, make([]byte, len(in.buf))...)
	}
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
