package transport

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
)

// Observer observes the writes and reads of a connection. Its methods
// are called on the goroutines that write and read; they must not block.
type Observer interface {
	// Writing is called before each write that reaches the socket.
	Writing()
	// HasRead is called after each read of anything. now is when it returned.
	// waited is for how many ns what it returned had lain in this machine, by the
	// kernel's receive time stamp; −1: not known. Of several segments that one
	// read returned the last one's counts: for the others waited is too short.
	HasRead(now, waited int64)
}

// Conn is a connection that its dialer knows while it is open.
type Conn struct {
	net.Conn
	owner    *Dialer
	observer atomic.Pointer[Observer]
	closed   atomic.Bool
	writes   atomic.Int64
	late     atomic.Bool
	raw      *rawSocket // nil: all goes through the runtime

	// What is held back, see Cork.
	out struct {
		sync.Mutex
		corked bool
		buf    []byte
		limit  *time.Timer
		err    error // of a write, not reported yet
	}
}

const (
	// directMost is the largest write, in bytes, during which the scheduler may
	// bypass the scheduler: a larger one takes some 20 µs on loopback.
	directMost = 64 << 10
	// corkSize is how much is held back at most.
	corkSize = 64 << 10
	// corkLimit is for how long anything is held back at most. The sender
	// uncorks as soon as it is in time; the limit is for one that is blocked
	// meanwhile, by what waits for an answer to what is held back.
	corkLimit = time.Millisecond
)

func newConn(d *Dialer, c net.Conn) *Conn {
	t := &Conn{Conn: c, owner: d}
	if d.direct {
		if d.threads.Add(1) <= threadsMost {
			t.Conn = ownWait(c)
		}
		t.raw = newRawSocket(t.Conn)
	}
	return t
}

// Observe installs o; nil removes it.
func (c *Conn) Observe(o Observer) {
	if o == nil {
		c.observer.Store(nil)
		return
	}
	c.observer.Store(&o)
}

// Stamped reports whether reads return the kernel's receive time.
func (c *Conn) Stamped() bool { return c.raw != nil && c.raw.stamped }

// Writes counts the calls of Write so far, held back or not: who calls a client
// can see by it whether the client has written by itself.
func (c *Conn) Writes() int64 { return c.writes.Load() }

// Closed reports whether the connection was closed from this side.
func (c *Conn) Closed() bool { return c.closed.Load() }

// Cork has what is written from now on held back, up to corkSize bytes and
// corkLimit, until Uncork. Write then returns before the socket has taken
// anything: Uncork and later writes return an error of the socket.
// It reports false, and holds nothing back, while somebody is just writing.
func (c *Conn) Cork() bool {
	if !c.out.TryLock() {
		return false
	}
	if c.out.buf == nil {
		c.out.buf = make([]byte, 0, corkSize)
	}
	c.out.corked = true
	c.out.Unlock()
	return true
}

// Uncork writes what was held back. Without anything it costs next to nothing.
func (c *Conn) Uncork() error {
	c.out.Lock()
	defer c.out.Unlock()
	c.out.corked = false
	return c.drain()
}

// expire is Uncork for a sender that cannot come to it.
func (c *Conn) expire() {
	c.out.Lock()
	defer c.out.Unlock()
	_ = c.drain() // the next write returns the error
}

// drain writes out.buf. The lock is held.
func (c *Conn) drain() error {
	if len(c.out.buf) == 0 {
		return c.out.err
	}
	c.out.limit.Stop()
	_, err := c.write(c.out.buf)
	c.out.buf = c.out.buf[:0]
	if err != nil {
		c.out.err = err
	}
	return c.out.err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	c.out.Lock()
	defer c.out.Unlock()
	if c.out.err != nil {
		return 0, c.out.err
	}
	if !c.out.corked {
		if len(c.out.buf) > 0 { // it expired half-way: keep the order
			if err := c.drain(); err != nil {
				return 0, err
			}
		}
		return c.write(p)
	}
	if len(c.out.buf)+len(p) > corkSize {
		if err := c.drain(); err != nil {
			return 0, err
		}
		if len(p) > corkSize {
			return c.write(p)
		}
	}
	if len(c.out.buf) == 0 {
		if c.out.limit == nil {
			c.out.limit = time.AfterFunc(corkLimit, c.expire)
		} else {
			c.out.limit.Reset(corkLimit)
		}
	}
	c.out.buf = append(c.out.buf, p...)
	return len(p), nil
}

// write writes to the socket. The lock of out is held.
func (c *Conn) write(p []byte) (int, error) {
	if o := c.observer.Load(); o != nil {
		(*o).Writing()
	}
	if c.raw != nil && len(p) <= directMost {
		return c.raw.write(c.Conn, p)
	}
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (n int, err error) {
	now, waited := int64(0), int64(-1)
	if c.raw != nil && len(p) > 0 {
		n, now, waited, err = c.raw.read(c.Conn, p)
	} else {
		n, err = c.Conn.Read(p)
	}
	if n > 0 {
		if o := c.observer.Load(); o != nil {
			if now == 0 {
				now = clock.Now()
			}
			(*o).HasRead(now, waited)
		}
	}
	return n, err
}

// ReadsLate reports whether the connection may be read by ReadNow and Rest alone: by
// whoever has a processor anyway, and no thread is woken for what comes. The kernel's
// time stamps then tell when it came.
func (c *Conn) ReadsLate() bool { return c.raw != nil && c.raw.stamped && restable(c.Conn) }

// ReadNow is Read that does not wait: if there is nothing it returns EAGAIN.
func (c *Conn) ReadNow(p []byte) (n int, err error) {
	n, now, waited, err := c.raw.readNow(c.Conn, p)
	if n > 0 {
		if o := c.observer.Load(); o != nil {
			if !c.late.Load() {
				c.late.Store(true)
			}
			(*o).HasRead(now, waited)
		}
	}
	return n, err
}

// Late reports whether the connection is read by ReadNow: when a read returns says
// nothing of when its bytes came.
func (c *Conn) Late() bool { return c.late.Load() }

// Rest waits for d, whatever comes meanwhile. It returns an error once the
// connection is closed.
func (c *Conn) Rest(d time.Duration) error { return c.raw.rest(c.Conn, d) }

// Close closes the connection and forgets it. What is held back is written if
// that needs no waiting for another writer.
func (c *Conn) Close() error {
	c.owner.forget(c)
	c.closed.Store(true)
	if c.out.TryLock() {
		if len(c.out.buf) > 0 {
			_ = c.Conn.SetWriteDeadline(time.Now().Add(closeGrace))
			_ = c.drain() // no caller is left to return it to
		}
		c.out.Unlock()
	}
	return c.Conn.Close()
}

// Cut has the client find that the connection is lost: it reads its end, and cannot write. To
// the other side the connection ends, too. The client closes it.
func (c *Conn) Cut() error { return shut(c.Conn) }

// closeGrace is how long Close waits for the socket to take what was held back.
const closeGrace = 100 * time.Millisecond

// NetConn returns the connection underneath, for socket options.
func (c *Conn) NetConn() net.Conn { return c.Conn }
