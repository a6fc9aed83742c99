package kit

import (
	"bytes"
	"io"
)

// The sizes of the buffer of [Frames], in bytes: it starts small because most
// connections carry little, and grows when reads fill it.
const (
	readFirst = 8 << 10
	readMost  = 128 << 10 // unless one frame is larger
)

// Frames cuts what a server writes into frames. One goroutine at a time uses it.
type Frames struct {
	source io.Reader
	size   func(unread []byte) (int, error)
	idle   func() error

	buf        []byte
	start, end int  // buf[start:end] has been read and not returned yet
	full       bool // the last read filled the buffer
	taken      bool // a frame was returned since idle was called
}

// NewFrames reads from source. size returns the length of the frame at the start of unread;
// if unread is too short to know, it returns the number of bytes needed to know, which is
// larger than len(unread). An error of size means that the bytes are not a frame. idle, if
// not nil, is called before a read that may block, if a frame has been returned since its
// last call: it writes what was held back.
func NewFrames(source io.Reader, size func(unread []byte) (int, error), idle func() error) *Frames {
	return &Frames{source: source, size: size, idle: idle}
}

// Next returns the next frame, valid until it is called again.
func (f *Frames) Next() ([]byte, error) {
	for {
		unread := f.buf[f.start:f.end]
		need, err := f.size(unread)
		if err != nil {
			return nil, err
		}
		if need <= len(unread) {
			f.start += need
			f.taken = true
			return unread[:need:need], nil
		}
		if err := f.fill(need); err != nil {
			return nil, err
		}
	}
}

// Each gives frames to take, one after the other, until an error of reading or of take.
func (f *Frames) Each(take func(frame []byte) error) error {
	for {
		frame, err := f.Next()
		if err == nil {
			err = take(frame)
		}
		if err != nil {
			return err
		}
	}
}

// More reports whether the next frame, or an error, can be had without reading.
func (f *Frames) More() bool {
	unread := f.buf[f.start:f.end]
	need, err := f.size(unread)
	return err != nil || need <= len(unread)
}

// Rest returns what has been read and not been taken, and forgets it: it is the
// beginning of what something that is wrapped around the connection has to read.
func (f *Frames) Rest() []byte {
	b := bytes.Clone(f.buf[f.start:f.end])
	f.start, f.end = 0, 0
	return b
}

// fill reads once. What is left of a frame, which is need bytes in all, moves to the
// front of the buffer. A length may lie: room is made for what comes, not for what is
// promised.
func (f *Frames) fill(need int) error {
	if f.taken && f.idle != nil {
		f.taken = false
		if err := f.idle(); err != nil {
			return err
		}
	}
	f.end = copy(f.buf, f.buf[f.start:f.end])
	f.start = 0
	size := max(len(f.buf), readFirst)
	if f.full && (size < readMost || size < need) || f.end == size {
		size *= 2
	}
	if size > len(f.buf) {
		f.buf = append(f.buf[:f.end], make([]byte, size-f.end)...)
	}
	n, err := f.source.Read(f.buf[f.end:])
	f.end += n
	f.full = f.end == len(f.buf)
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}
