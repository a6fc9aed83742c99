package nullbroker

import (
	"net"
	"sync"
	"syscall"
)

// senderMost is how many bytes may wait for a client that does not read. Who
// has more for it waits, too.
const senderMost = 32 << 20

// sender is the sending side of a connection. Whoever has something for the
// client appends it and flushes; the bytes go out on that goroutine, as far as
// the socket takes them without waiting. Only what it does not take is left to
// a goroutine, so that a slow client delays no other.
type sender struct {
	conn net.Conn
	now  *attempt // nil: bytes always go out by the goroutine; under mu

	mu       sync.Mutex
	room     sync.Cond
	buf      []byte
	spare    []byte // what the goroutine writes from
	draining bool   // the goroutine writes, and no one else may
	closed   bool
}

func newSender(c net.Conn) *sender {
	o := &sender{conn: c}
	o.room.L = &o.mu
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil { // else there is the goroutine
			o.now = newAttempt(raw)
		}
	}
	return o
}

// await waits for room for n bytes; mu is held.
func (o *sender) await(n int) (open bool) {
	for !o.closed && o.draining && len(o.buf) > 0 && len(o.buf)+n > senderMost {
		o.room.Wait()
	}
	return !o.closed
}

func (o *sender) message(subscription uint32, tail []byte) {
	o.mu.Lock()
	if o.await(len(tail)) {
		o.buf = appendMessage(o.buf, subscription, tail)
	}
	o.mu.Unlock()
}

func (o *sender) ack(number uint32) {
	o.mu.Lock()
	if o.await(lengthSize + 5) {
		o.buf = begin(o.buf, OpAck, 0, number)
	}
	o.mu.Unlock()
}

func (o *sender) done(request uint32) {
	o.mu.Lock()
	o.buf = begin(o.buf, OpDone, 0, request)
	o.mu.Unlock()
}

func (o *sender) welcome(w Welcome) {
	o.mu.Lock()
	o.buf = appendWelcome(o.buf, w)
	o.mu.Unlock()
}

func (o *sender) refuse(err error) {
	o.mu.Lock()
	text := err.Error()
	o.buf = append(begin(o.buf, OpRefused, len(text)), text...)
	o.mu.Unlock()
}

// flush sends what there is.
func (o *sender) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.draining || o.closed || len(o.buf) == 0 {
		return
	}
	n := 0
	if o.now != nil {
		n = o.now.write(o.buf)
	}
	if n == len(o.buf) {
		o.shrink()
		return
	}
	o.draining = true
	go o.drain(n)
}

// bufferKept is the largest buffer that is kept for later.
const bufferKept = 1 << 20

// shrink empties the buffer; mu is held.
func (o *sender) shrink() {
	if cap(o.buf) > bufferKept {
		o.buf = nil
	}
	o.buf = o.buf[:0]
}

// drain writes until nothing is left; of the buffer the first n bytes are out.
func (o *sender) drain(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.buf) > n && !o.closed {
		o.buf, o.spare = o.spare[:0], o.buf
		o.room.Broadcast()
		out := o.spare[n:]
		n = 0
		o.mu.Unlock()
		_, err := o.conn.Write(out)
		o.mu.Lock()
		if cap(o.spare) > bufferKept {
			o.spare = nil
		}
		if err != nil {
			o.end()
		}
	}
	o.shrink()
	o.draining = false
	o.room.Broadcast()
}

// end gives the connection up; mu is held.
func (o *sender) end() {
	o.closed = true
	o.conn.Close()
	o.room.Broadcast()
}

// close ends the connection; what was not written is lost.
func (o *sender) close() {
	// First the connection: a write that waits holds no lock, but who fills the
	// buffer does.
	o.conn.Close()
	o.mu.Lock()
	o.end()
	o.mu.Unlock()
}

// finish closes the connection after one attempt to write what there is.
func (o *sender) finish() {
	o.flush()
	o.close()
}
