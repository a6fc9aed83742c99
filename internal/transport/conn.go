package transport

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
)

// Observer observes the writes and reads of a connection. The writing and the reading
// goroutine call its methods; they must not block.
type Observer interface {
	// Writing is called before each write to the socket, with the write lock held.
	Writing()
	// Reading is called before each read that waits for data.
	Reading()
	// HasRead is called after each read that returned data. now is the instant after the
	// read (as clock.Now counts). waited is for how many ns the data had waited on this
	// machine, by the kernel's receive time stamp (−1: unknown). If one read returned
	// several segments, it is the last one's: for the others waited is too short.
	HasRead(now, waited int64)
}

// Conn is a connection of a [Dialer]. Its methods are safe for concurrent use.
type Conn struct {
	net.Conn
	// Role is whose it is, as the driver said when it connected; empty: it did not. It changes before the load begins at most.
	Role     driver.Role
	owner    *Dialer
	end      netip.AddrPort // the other end's address; not valid if the connection is not TCP
	observer atomic.Pointer[Observer]
	closed   atomic.Bool
	writes   atomic.Int64
	late     atomic.Bool // set by the first ReadNow that returns data; never cleared
	raw      *rawSocket  // nil: all goes through the runtime

	// out holds the write buffer, see Cork. Its lock serialises all writes to the socket,
	// buffered or not, so that bytes keep their order.
	out struct {
		sync.Mutex
		corked bool
		buf    []byte
		limit  *time.Timer // calls expire; nil until the first write while corked
		err    error       // of the first failed flush; all later writes return it
	}
}

const (
	// directMost is the largest write, in bytes, that bypasses the scheduler. A write of that
	// size takes some 20 µs on loopback.
	directMost = 64 << 10
	// corkSize is the largest number of bytes in the write buffer.
	corkSize = 64 << 10
	// corkLimit is how long bytes stay in the write buffer at most. A sender uncorks as soon
	// as it is on schedule. The limit is for a sender that is blocked meanwhile by something
	// that waits for an answer to the buffered bytes.
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

// Observe installs o in place of the previous observer; nil removes it.
func (c *Conn) Observe(o Observer) {
	if o == nil {
		c.observer.Store(nil)
		return
	}
	c.observer.Store(&o)
}

// Stamped reports whether reads return the kernel's receive time.
func (c *Conn) Stamped() bool { return c.raw != nil && c.raw.stamped }

// Writes returns the number of calls of Write so far, buffered or not. It shows the caller of
// a client library whether the library has written.
func (c *Conn) Writes() int64 { return c.writes.Load() }

// carries reports whether the connection is a producer's or a consumer's, to an address.
func (c *Conn) carries() bool {
	return c.end.IsValid() && (c.Role == driver.RoleProducer || c.Role == driver.RoleConsumer)
}

// Closed reports whether the connection was closed from this side.
func (c *Conn) Closed() bool { return c.closed.Load() }

// Cork buffers all further writes until Uncork, but at most corkSize bytes and for corkLimit.
// Write then returns before the socket has taken the bytes; Uncork and later writes return the
// socket's error. Cork does not wait: during a write it changes nothing and returns false.
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

// Uncork ends buffering and writes the buffer. It is cheap if the buffer is empty.
func (c *Conn) Uncork() error {
	c.out.Lock()
	defer c.out.Unlock()
	c.out.corked = false
	return c.drain()
}

// expire writes the buffer when corkLimit is over; the connection stays corked. It runs on the
// timer's goroutine.
func (c *Conn) expire() {
	c.out.Lock()
	defer c.out.Unlock()
	_ = c.drain() // the next write returns the error
}

// drain writes out.buf. The caller holds the lock of out.
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
		if len(c.out.buf) > 0 { // bytes that are still buffered go first
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

// write writes to the socket. The caller holds the lock of out.
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
	if o := c.observer.Load(); o != nil {
		(*o).Reading()
	}
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

// ReadsLate reports whether the connection supports ReadNow and Rest. With these a goroutine
// that is running anyway reads the data, and no thread is woken when data arrives. The kernel's
// time stamps then give the time of arrival.
func (c *Conn) ReadsLate() bool { return c.raw != nil && c.raw.stamped && restable(c.Conn) }

// ReadNow is Read without waiting: it returns syscall.EAGAIN if no data is there. It must not be
// called unless ReadsLate.
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

// Late reports whether ReadNow has returned data. If so, the instant at which a read returns
// says nothing about when its bytes arrived.
func (c *Conn) Late() bool { return c.late.Load() }

// Rest waits for d, whether or not data arrives. It returns net.ErrClosed once the connection
// is closed. It must not be called unless ReadsLate.
func (c *Conn) Rest(d time.Duration) error { return c.raw.rest(c.Conn, d) }

// Close closes the connection and removes it from its dialer. It writes the buffer first,
// unless another goroutine is writing, and waits up to closeGrace for that.
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

// Cut simulates a lost connection: it shuts both directions down. The client's reads return
// io.EOF and its writes fail; the other side sees the end, too. The client must still close it.
func (c *Conn) Cut() error { return shut(c.Conn) }

// closeGrace is how long Close waits at most for the socket to take the buffer.
const closeGrace = 100 * time.Millisecond

// NetConn returns the connection underneath, for socket options.
func (c *Conn) NetConn() net.Conn { return c.Conn }
