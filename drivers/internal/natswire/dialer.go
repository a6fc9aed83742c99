package natswire

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// Dialer makes the network connections of one client of nats.go and keeps hold
// of them. The client writes holding a lock that its Close wants too, so the
// only way out of a write that the server does not read is to close the
// connection below. Its methods are safe for concurrent use.
type Dialer struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	ctx     context.Context // ends with the dialer
	cancel  context.CancelFunc

	mu    sync.Mutex
	dead  bool
	conns map[net.Conn]struct{}
	err   error // of the last attempt
}

// NewDialer returns a dialer that lasts until ctx ends or it is killed. dial makes
// its connections, each within the timeout; nil: the net package does.
func NewDialer(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), timeout time.Duration) *Dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	d := &Dialer{dial: dial, timeout: timeout, conns: map[net.Conn]struct{}{}}
	d.ctx, d.cancel = context.WithCancel(ctx)
	return d
}

// Dial implements nats.CustomDialer.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.timeout)
	defer cancel()
	conn, err := d.dial(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	if err != nil {
		return nil, err
	}
	if d.dead {
		conn.Close()
		return nil, driver.ErrClosed
	}
	d.conns[conn] = struct{}{}
	return conn, nil
}

// LastError returns why the last attempt to dial failed, nil if it did not.
func (d *Dialer) LastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Kill closes all connections and lets no new ones be made.
func (d *Dialer) Kill() {
	d.cancel()
	d.mu.Lock()
	d.dead = true
	conns := d.conns
	d.conns = map[net.Conn]struct{}{}
	d.mu.Unlock()
	for c := range conns {
		c.Close()
	}
}

// forget leaves a connection to whoever closes it.
func (d *Dialer) forget(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// linkDialer is the dialer of a link, whose connections others than the client
// may write to and read from.
type linkDialer struct {
	*Dialer
	// frameReader returns what the client reads instead of the connection; nil: the
	// connection itself.
	frameReader func(net.Conn) io.Reader
	latest      atomic.Pointer[dialedConn] // the connection made last, open or not
}

// Dial implements nats.CustomDialer.
func (d *linkDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := d.Dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &dialedConn{Conn: conn, dialer: d.Dialer, in: conn}
	if d.frameReader != nil {
		c.in = d.frameReader(conn)
	}
	d.latest.Store(c)
	return c, nil
}

// dialedConn is a connection that its dialer knows while it is open.
type dialedConn struct {
	net.Conn
	dialer  *Dialer
	in      io.Reader
	writing sync.Mutex  // keeps the frames of client and publishers apart
	wrapped atomic.Bool // what is written is TLS's
	begun   bool        // something has been written; guarded by writing
}

// handshake is what TLS's first record begins with (RFC 8446, section 5.1).
const handshake = 22

// Read implements net.Conn.
func (c *dialedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write implements net.Conn. Calls do not mix their bytes. The client makes one
// for whole frames only, and one without any when it closes, which must not
// wait for a publisher that is stuck.
func (c *dialedConn) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.begun {
		c.begun = true
		c.wrapped.Store(p[0] == handshake)
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *dialedConn) Close() error {
	c.dialer.forget(c.Conn)
	return c.Conn.Close()
}
