package natswire

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"sixnines/driver"
)

// dialer makes the network connections of one link and keeps hold of them. The
// client writes holding a lock that its Close wants too, so the only way out
// of a write that the broker does not read is to close the connection below.
type dialer struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	// intake returns what the client reads instead of the connection; nil: the
	// connection itself.
	intake func(net.Conn) io.Reader
	ctx    context.Context // ends with the dialer
	cancel context.CancelFunc

	mu    sync.Mutex
	dead  bool
	conns map[*dialedConn]struct{}
	last  *dialedConn // the latest connection
	err   error       // of the last attempt
}

func newDialer(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), timeout time.Duration) *dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	d := &dialer{dial: dial, timeout: timeout, conns: map[*dialedConn]struct{}{}}
	d.ctx, d.cancel = context.WithCancel(ctx)
	return d
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
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
	c := &dialedConn{Conn: conn, dialer: d, in: conn}
	if d.intake != nil {
		c.in = d.intake(conn)
	}
	d.conns[c] = struct{}{}
	d.last = c
	return c, nil
}

// lastError returns why the last attempt to dial failed, nil if it did not.
func (d *dialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// latest returns the connection made last, open or not.
func (d *dialer) latest() *dialedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// kill closes all connections and lets no new ones be made.
func (d *dialer) kill() {
	d.cancel()
	d.mu.Lock()
	d.dead = true
	conns := d.conns
	d.conns = map[*dialedConn]struct{}{}
	d.mu.Unlock()
	for c := range conns {
		c.Conn.Close()
	}
}

// dialedConn is a connection that its dialer knows while it is open.
type dialedConn struct {
	net.Conn
	dialer  *dialer
	in      io.Reader
	writing sync.Mutex // keeps the frames of client and publishers apart
}

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
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *dialedConn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
