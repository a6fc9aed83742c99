package engine

import (
	"context"
	"net"
	"sync"
)

// dialer makes the connections of a session and can close them all, which is
// the one thing that frees a client stuck in a write.
type dialer struct {
	net   net.Dialer
	mu    sync.Mutex
	conns map[*trackedConn]struct{}
}

type trackedConn struct {
	net.Conn
	owner *dialer
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
	d.mu.Unlock()
	return t, nil
}

// Close closes the connection and forgets it.
func (c *trackedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
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
		c.Conn.Close()
	}
}
