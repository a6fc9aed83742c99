package natswire

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"sixnines/drivers/internal/kit"
)

// lineMost is the longest line before a payload that is waited for.
const lineMost = 16 << 10

// frameReader reads the server's side of one connection on behalf of nats.go. It
// takes out the messages of routes, without their headers, and hands them over on the
// goroutine that reads, as slices of its own buffer; all other bytes come out of Read
// as they went in.
//
// nats.go has a goroutine for each subscription, to which it copies every
// message: an allocation and a wake-up each, and under load the message waits
// for the scheduler once more.
//
// It understands what servers write and no more than that. At the first line
// that it does not know (the TLS that a server asks for in mid-connection, a
// proxy's own text) it gives up for good, and nats.go gets every byte.
//
// One goroutine at a time reads, and it is the one that messages are handed
// over on.
type frameReader struct {
	source io.Reader
	frames *kit.Frames
	routes *routes
	head   head        // of the message that size has looked at last
	left   []byte      // nats.go's, which it has not read yet
	lost   atomic.Bool // all that follows is nats.go's
}

// newFrameReader reads from source. rest is called before a read that may have to wait,
// if something has come since the last.
func newFrameReader(source io.Reader, routes *routes, rest func()) *frameReader {
	in := &frameReader{source: source, routes: routes}
	in.frames = kit.NewFrames(source, in.size, func() error {
		rest()
		return nil
	})
	return in
}

// Read implements io.Reader. It returns as soon as there are bytes for nats.go.
func (in *frameReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case len(in.left) > 0:
			m := copy(p[n:], in.left)
			n += m
			in.left = in.left[m:]
		case in.lost.Load() && n == 0:
			return in.source.Read(p)
		case in.lost.Load(), n > 0 && !in.frames.More():
			return n, nil
		default:
			in.next()
		}
	}
	return n, nil
}

// next deals with a frame. After an error, which comes again if it is the source's, there
// are none any more: half of one may be left, and has no second half.
func (in *frameReader) next() {
	frame, err := in.frames.Next()
	if err != nil {
		in.lost.Store(true)
		in.left = in.frames.Rest()
		return
	}
	if kind := frame[0]; kind == 'M' || kind == 'H' {
		body := frame[in.head.line : len(frame)-2]
		if r := in.routes.find(in.head.sid, in.head.subject); r != nil && in.head.plain(body) {
			r.deliver(in.head.subject, body[in.head.headers:len(body):len(body)], in.head.reply)
			return
		}
	}
	in.left = frame
}

// errForeign says that what comes is no frame of a server.
var errForeign = errors.New("not a frame of a NATS server")

// size returns how many bytes the frame has that unread begins with, see kit.NewFrames.
func (in *frameReader) size(unread []byte) (int, error) {
	if len(unread) == 0 {
		return 1, nil
	}
	i := bytes.IndexByte(unread, '\n')
	switch unread[0] {
	case 'M', 'H':
	case 'I', 'P', '+', '-':
		if i < 0 {
			i = len(unread) // and what follows
		}
		return i + 1, nil
	default:
		return 0, errForeign
	}
	if i > lineMost || i < 0 && len(unread) > lineMost {
		return 0, errForeign
	}
	if i < 0 {
		return len(unread) + 1, nil
	}
	ok := in.head.parse(unread[:i+1], unread[0] == 'H')
	n := i + 1 + in.head.size + 2
	if !ok || len(unread) >= n && string(unread[n-2:n]) != "\r\n" {
		return 0, errForeign
	}
	return n, nil
}

// head is the line before a message's payload. Its parts are slices of it.
type head struct {
	subject, reply []byte
	sid, size      int // size includes headers
	headers        int // their size; 0: no headers; -1: this is no block of headers
	line           int // the size of the line
}

// plain reports whether the message is somebody's: a block of headers that has a status
// comes from the server, and is nats.go's.
func (h *head) plain(body []byte) bool {
	return h.headers == 0 || h.headers > 0 && string(body[:len(headerStart)]) == headerStart
}

// parse reads "MSG subject sid [reply] size\r\n" or, if headed, "HMSG
// subject sid [reply] headers size\r\n".
func (h *head) parse(line []byte, headed bool) bool {
	word := "MSG "
	least, most := 3, 4
	if headed {
		word, least, most = "HMSG ", 4, 5
	}
	if len(line) < len(word)+2 || string(line[:len(word)]) != word || line[len(line)-2] != '\r' {
		return false
	}
	rest := line[len(word) : len(line)-2]
	var parts [5][]byte
	count := 0
	for {
		if count == most {
			return false
		}
		i := bytes.IndexByte(rest, ' ')
		if i == 0 || len(rest) == 0 {
			return false
		}
		if i < 0 {
			parts[count] = rest
			count++
			break
		}
		parts[count] = rest[:i]
		count++
		rest = rest[i+1:]
	}
	if count < least {
		return false
	}
	h.line, h.subject, h.reply, h.headers = len(line), parts[0], nil, 0
	if count == most {
		h.reply = parts[2]
	}
	var sized, numbered bool
	h.sid, numbered = number(parts[1])
	h.size, sized = number(parts[count-1])
	if headed {
		n, ok := number(parts[count-2])
		if h.headers = n; !ok || n < len(headerStart) || n > h.size {
			h.headers = -1
		}
	}
	return sized && numbered
}

// number reads digits; more than nine are none that a server writes.
func number(digits []byte) (n int, ok bool) {
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}
