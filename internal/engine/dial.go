package engine

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// dialer makes the connections of a session and can close them all, which is
// the one thing that frees a client stuck in a write.
type dialer struct {
	net   net.Dialer
	mu    sync.Mutex
	conns map[*trackedConn]struct{}
	log   []*trackedConn // all so far, until onDial
	told  func()         // of each further one; nil: log it
}

// trackedConn is a connection that its dialer knows while it is open, and that
// can be tapped for when it is written to and read from.
type trackedConn struct {
	net.Conn
	owner  *dialer
	tap    atomic.Pointer[tap] // nil: nobody wants to know
	closed atomic.Bool
}

func newDialer() *dialer { return &dialer{conns: map[*trackedConn]struct{}{}} }

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: c, owner: d}
	d.mu.Lock()
	d.conns[t] = struct{}{}
	told := d.told
	if told == nil {
		d.log = append(d.log, t)
	}
	d.mu.Unlock()
	if told != nil {
		told()
	}
	return t, nil
}

// mark returns how many connections were made so far, for since.
func (d *dialer) mark() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// since returns the connections made since mark.
func (d *dialer) since(mark int) []*trackedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log[mark:len(d.log):len(d.log)]
}

// onDial has f called after each further connection was made, and forgets those
// that were.
func (d *dialer) onDial(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told, d.log = f, nil
}

// open returns the connections that are open.
func (d *dialer) open() []*trackedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*trackedConn, 0, len(d.conns))
	for c := range d.conns {
		out = append(out, c)
	}
	return out
}

// Write implements net.Conn.
func (c *trackedConn) Write(p []byte) (int, error) {
	if t := c.tap.Load(); t != nil {
		t.writes()
	}
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *trackedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		if t := c.tap.Load(); t != nil {
			t.hasRead()
		}
	}
	return n, err
}

// Close closes the connection and forgets it.
func (c *trackedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	c.closed.Store(true)
	return c.Conn.Close()
}

// NetConn returns the connection underneath, for socket options.
func (c *trackedConn) NetConn() net.Conn { return c.Conn }

// closeAll closes whatever is still open.
func (d *dialer) closeAll() {
	d.mu.Lock()
	conns := d.conns
	d.conns = map[*trackedConn]struct{}{}
	d.mu.Unlock()
	for c := range conns {
		c.closed.Store(true)
		c.Conn.Close()
	}
}
