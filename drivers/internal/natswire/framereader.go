package natswire

import (
	"bytes"
	"io"
)

// The sizes of an frameReader, in bytes. The buffer starts small because most
// connections carry little, and grows to readBuffer when reads fill it; beyond
// that it grows with the frames that it has to hold, up to frameMost.
const (
	readFirst  = 8 << 10
	readBuffer = 64 << 10
	// frameMost is the largest payload handed over directly: the most that a
	// server can be set to carry.
	frameMost = 64 << 20
	// lineMost is the longest line before a payload that is waited for.
	lineMost = 16 << 10
)

// frameReader reads the server's side of one connection on behalf of the client. It
// takes out the messages of routes, without their headers, and hands them over on the goroutine that
// reads, as slices of its own buffer; all other bytes come out of Read as they
// went in.
//
// The client has a goroutine for each subscription, to which it copies every
// message: an allocation and a wake-up each, and under load the message waits
// for the scheduler once more.
//
// It understands what servers write and no more than that. At the first line
// that it does not know (the TLS that a server asks for in mid-connection, a
// proxy's own text) it gives up for good, and the client gets every byte.
//
// One goroutine at a time reads, and it is the one that messages are handed
// over on.
type frameReader struct {
	src    io.Reader
	routes *routes
	// rest is called before a Read that may have to wait, if messages have been
	// handed over since the last.
	rest func()

	buf        []byte
	start, end int // what has been read and not yet dealt with

	skip   int  // bytes of a payload that belong to the client
	inLine bool // the client's until the end of the line
	lost   bool // all is the client's
	full   bool // the last read took all the room there was
	handed bool // a message has been handed over since rest was called
	err    error
}

func newFrameReader(src io.Reader, routes *routes, rest func()) *frameReader {
	return &frameReader{src: src, routes: routes, rest: rest, buf: make([]byte, readFirst)}
}

// Read implements io.Reader. It returns as soon as there are bytes for the
// client.
func (in *frameReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n := in.sift(p); n > 0 {
			return n, nil
		}
		if err := in.err; err != nil {
			in.err = nil
			return 0, err
		}
		in.fill()
	}
}

// fill reads once. What is left of a frame moves to the front of the buffer.
func (in *frameReader) fill() {
	if in.handed {
		in.handed = false
		in.rest()
	}
	in.end = copy(in.buf, in.buf[in.start:in.end])
	in.start = 0
	if in.end == len(in.buf) || in.full && len(in.buf) < readBuffer {
		in.buf = append(in.buf, make([]byte, len(in.buf))...)
	}
	n, err := in.src.Read(in.buf[in.end:])
	in.end += n
	in.full = in.end == len(in.buf)
	if err != nil {
		in.err = err
		in.lost = true // half a frame may be left, and has no second half
	}
}

// sift deals with what has been read, as far as it is complete, and returns how
// many bytes for the client are in p.
func (in *frameReader) sift(p []byte) (n int) {
	for n < len(p) && in.start < in.end {
		unread := in.buf[in.start:in.end]
		switch {
		case in.lost:
		case in.skip > 0:
			unread = unread[:min(in.skip, len(unread))]
		case in.inLine:
			if i := bytes.IndexByte(unread, '\n'); i >= 0 {
				unread = unread[:i+1]
			}
		default:
			if in.frame(unread) {
				continue
			}
			return n
		}
		m := copy(p[n:], unread)
		n += m
		in.start += m
		switch {
		case in.skip > 0:
			in.skip -= m
		case in.inLine:
			in.inLine = p[n-1] != '\n'
		}
	}
	return n
}

// frame deals with the beginning of what the server has to say next. It reports
// whether that was enough to go on.
func (in *frameReader) frame(unread []byte) bool {
	headed := false
	switch unread[0] {
	case 'I', 'P', '+', '-':
		in.inLine = true
		return true
	case 'M':
	case 'H':
		headed = true
	default:
		in.lost = true
		return true
	}
	i := bytes.IndexByte(unread, '\n')
	if i > lineMost || i < 0 && len(unread) > lineMost {
		in.lost = true
		return true
	}
	if i < 0 {
		return false
	}
	h, ok := parseHead(unread[:i+1], headed)
	if !ok {
		in.lost = true
		return true
	}
	body := unread[i+1:]
	var r *route
	if h.size <= frameMost {
		r = in.routes.find(h.sid, h.subject)
	}
	if r != nil && headed {
		// A block of headers that has a status comes from the server, and to the client.
		start := body[:min(len(body), len(headerStart))]
		switch {
		case h.headers < len(headerStart) || h.headers > h.size || string(start) != headerStart[:len(start)]:
			r = nil
		case len(start) < len(headerStart):
			return false
		}
	}
	if r == nil {
		// The client wants a byte after the payload and then the line's end,
		// whatever is between.
		in.skip, in.inLine = i+1+h.size+1, true
		return true
	}
	if len(body) < h.size+2 {
		return false
	}
	if body[h.size] != '\r' || body[h.size+1] != '\n' {
		in.lost = true
		return true
	}
	in.handed = true
	r.Deliver(h.subject, body[h.headers:h.size:h.size], h.reply)
	in.start += i + 1 + h.size + 2
	return true
}

// head is the line before a message's payload. Its parts are slices of it.
type head struct {
	subject, reply []byte
	sid, size      int // size includes headers
	headers        int // their size; -1: it cannot be read
}

// parseHead reads "MSG subject sid [reply] size\r\n" or, if headed, "HMSG
// subject sid [reply] headers size\r\n".
func parseHead(line []byte, headed bool) (h head, ok bool) {
	word := "MSG "
	least, most := 3, 4
	if headed {
		word, least, most = "HMSG ", 4, 5
	}
	if len(line) < len(word)+2 || string(line[:len(word)]) != word || line[len(line)-2] != '\r' {
		return h, false
	}
	rest := line[len(word) : len(line)-2]
	var parts [5][]byte
	count := 0
	for {
		if count == most {
			return h, false
		}
		i := bytes.IndexByte(rest, ' ')
		if i == 0 || len(rest) == 0 {
			return h, false
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
		return h, false
	}
	h.subject = parts[0]
	if count == most {
		h.reply = parts[2]
	}
	var sized, numbered bool
	h.sid, numbered = number(parts[1])
	h.size, sized = number(parts[count-1])
	if headed {
		if n, ok := number(parts[count-2]); ok {
			h.headers = n
		} else {
			h.headers = -1
		}
	}
	return h, sized && numbered
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
