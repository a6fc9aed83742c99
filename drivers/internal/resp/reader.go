package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// The sizes of a Reader, in bytes. The buffer starts small because most
// connections carry little, and grows to readMost when reads fill it; beyond
// that it grows with the strings that it has to hold.
const (
	readFirst = 8 << 10
	readMost  = 64 << 10
	// lineMost is the longest line, in bytes, that the reader accepts: errors are lines.
	lineMost = 64 << 10
	// bulkMost is the longest string, in bytes, that the reader accepts: twice a server's
	// default limit.
	bulkMost = 1 << 30
	// depthMost is how deep arrays may lie in arrays.
	depthMost = 16
)

// The kinds of replies, which are their first bytes.
const (
	Status  = '+'
	Failure = '-'
	Integer = ':'
	Bulk    = '$'
	Array   = '*'
)

// Reader takes replies apart where they have been read, without copying or
// allocating. One goroutine at a time uses it. Where the source has nothing now and
// says EAGAIN, replies of one line may be asked for again later.
type Reader struct {
	src io.Reader
	// rest is called before a read that may have to wait; nil: nothing is.
	rest func()

	buf        []byte
	start, end int  // what has been read and not yet taken
	full       bool // the last read took all the room there was
	err        error
}

// NewReader returns a Reader of src. The function rest is called before each
// read from src, when all that came before has been taken; it may be nil.
func NewReader(src io.Reader, rest func()) *Reader {
	return &Reader{src: src, rest: rest, buf: make([]byte, readFirst)}
}

// fill reads once, having made some room.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.rest != nil {
		r.rest()
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) || r.full && len(r.buf) < readMost {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.full = r.end == len(r.buf)
	if err != nil && !errors.Is(err, syscall.EAGAIN) {
		r.err = err
		if n > 0 {
			return nil
		}
	}
	return err
}

// emptied reports whether all that was read is taken, and the last read left room: the
// source had no more then.
func (r *Reader) emptied() bool { return r.start == r.end && !r.full }

// Head takes a reply's first line. For Integer n is its value, for Bulk the
// number of bytes and for Array the number of replies that follow; -1 is a null.
// For Status and Failure line is the text, valid until the next call.
func (r *Reader) Head() (kind byte, n int64, line []byte, err error) {
	for looked := 0; ; {
		unread := r.buf[r.start:r.end]
		if i := bytes.IndexByte(unread[looked:], '\n'); i >= 0 {
			i += looked
			r.start += i + 1
			return parseHead(unread[:i+1])
		}
		if looked = len(unread); looked > lineMost {
			return 0, 0, nil, fmt.Errorf("%w: a line of more than %d bytes", ErrProtocol, lineMost)
		}
		if err := r.fill(); err != nil {
			return 0, 0, nil, short(err, looked > 0)
		}
	}
}

// short is the error of a source that ended, perhaps amidst a reply.
func short(err error, amidst bool) error {
	if err == io.EOF && amidst {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseHead reads a line with its end.
func parseHead(line []byte) (kind byte, n int64, text []byte, err error) {
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return 0, 0, nil, strange(line)
	}
	kind, text = line[0], line[1:len(line)-2]
	switch kind {
	case Status, Failure:
		return kind, 0, text, nil
	case Integer, Bulk, Array:
	default:
		return 0, 0, nil, strange(line)
	}
	digits := text
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, 0, nil, strange(line)
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, 0, nil, strange(line)
		}
		n = 10*n + int64(d-'0')
	}
	if negative {
		n = -n
	}
	// Of the negative lengths there is one, and it is written in one way.
	if kind != Integer && (n > bulkMost || negative && string(text) != "-1") {
		return 0, 0, nil, strange(line)
	}
	return kind, n, nil, nil
}

func strange(line []byte) error {
	return fmt.Errorf("%w: %.60q", ErrProtocol, line)
}

// Bytes takes the n bytes of a Bulk whose head has been taken, and its end. They
// are valid until the next call.
func (r *Reader) Bytes(n int64) ([]byte, error) {
	size := int(n)
	for r.end-r.start < size+2 {
		if err := r.fill(); err != nil {
			return nil, short(err, true)
		}
	}
	end := r.start + size
	b := r.buf[r.start:end:end]
	if r.buf[end] != '\r' || r.buf[end+1] != '\n' {
		return nil, fmt.Errorf("%w: a string does not end where it should", ErrProtocol)
	}
	r.start = end + 2
	return b, nil
}

// Bulk takes a string, nil for a null. It is valid until the next call.
func (r *Reader) Bulk() ([]byte, error) {
	kind, n, line, err := r.Head()
	switch {
	case err != nil:
		return nil, err
	case kind == Failure:
		return nil, ReplyError(string(line))
	case kind != Bulk:
		return nil, fmt.Errorf("%w: %q where a string should be", ErrProtocol, kind)
	case n < 0:
		return nil, nil
	}
	return r.Bytes(n)
}

// Array takes the head of an array and returns how many replies follow; -1 is
// no array at all. An error reply is an error that [ReplyError] makes.
func (r *Reader) Array() (int64, error) {
	kind, n, line, err := r.Head()
	switch {
	case err != nil:
		return 0, err
	case kind == Failure:
		return 0, ReplyError(string(line))
	case kind != Array:
		return 0, fmt.Errorf("%w: %q where an array should be", ErrProtocol, kind)
	}
	return n, nil
}

// Reply takes a whole reply. What an array holds is thrown away, and so are the
// bytes of a Bulk.
func (r *Reader) Reply() (kind byte, n int64, line []byte, err error) {
	kind, n, line, err = r.Head()
	if err == nil {
		err = r.skipBody(kind, n, 0)
	}
	return kind, n, line, err
}

// Skip throws the next count replies away.
func (r *Reader) Skip(count int64) error { return r.skip(count, 0) }

func (r *Reader) skip(count int64, depth int) error {
	for range max(0, count) {
		kind, n, _, err := r.Head()
		if err == nil {
			err = r.skipBody(kind, n, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) skipBody(kind byte, n int64, depth int) error {
	switch {
	case kind == Bulk && n >= 0:
		_, err := r.Bytes(n)
		return err
	case kind == Array:
		if depth == depthMost {
			return fmt.Errorf("%w: arrays in arrays, too deep", ErrProtocol)
		}
		return r.skip(n, depth+1)
	}
	return nil
}
