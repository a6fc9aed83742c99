package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// dialer makes the connections of one client, keeps hold of them, and tells of
// those that are lost and come back.
type dialer struct {
	name    string // whose connections they are, for events
	dialTCP func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
	timeout time.Duration
	notify  func(driver.Event)

	mu    sync.Mutex
	dead  bool
	conns map[*conn]struct{}
	lost  map[string]bool // addresses whose connection was lost
}

func newDialer(name string, s *session) *dialer {
	d := &dialer{name: name, dialTCP: s.target.Dial, tls: s.tls, timeout: s.options.ConnectTimeout, notify: s.notify,
		conns: map[*conn]struct{}{}, lost: map[string]bool{}}
	if d.dialTCP == nil {
		d.dialTCP = new(net.Dialer).DialContext
	}
	return d
}

// dial is for kgo.Dialer.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	raw, err := d.dialTCP(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, dialer: d, address: address}
	d.mu.Lock()
	if d.dead {
		d.mu.Unlock()
		raw.Close()
		return nil, net.ErrClosed
	}
	d.conns[c] = struct{}{}
	d.mu.Unlock()
	var made net.Conn = c
	if d.tls != nil {
		config := d.tls
		if config.ServerName == "" {
			config = config.Clone()
			config.ServerName, _, _ = net.SplitHostPort(address)
		}
		t := tls.Client(c, config)
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		made = t
	}
	d.mu.Lock()
	back := d.lost[address]
	delete(d.lost, address)
	d.mu.Unlock()
	if back {
		d.notify(driver.Event{Kind: driver.Reconnected, Detail: d.name + ": " + address})
	}
	return made, nil
}

// quiet lets connections end without a word: the client is being closed.
func (d *dialer) quiet() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.closed.Store(true)
	}
}

// broken notes that a connection ended though nobody closed it.
func (d *dialer) broken(address string, err error) {
	d.mu.Lock()
	first := !d.lost[address] && !d.dead
	d.lost[address] = true
	d.mu.Unlock()
	if first {
		d.notify(driver.Event{Kind: driver.Disconnected, Detail: d.name + ": " + address + ": " + err.Error()})
	}
}

// kill closes all connections and lets no new ones be made.
func (d *dialer) kill() {
	d.mu.Lock()
	d.dead = true
	conns := d.conns
	d.conns = map[*conn]struct{}{}
	d.mu.Unlock()
	for c := range conns {
		c.closed.Store(true)
		c.Conn.Close()
	}
}

// conn is a connection that its dialer knows while it is open.
type conn struct {
	net.Conn
	dialer  *dialer
	address string
	// closed: by the client, or about to be, so that what fails is no loss.
	closed atomic.Bool
}

// SetReadDeadline implements net.Conn. With an instant that has passed, the
// client breaks off a request that it does not want answered any more.
func (c *conn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && time.Until(t) <= 0 {
		c.closed.Store(true)
	}
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	if !t.IsZero() && time.Until(t) <= 0 {
		c.closed.Store(true)
	}
	return c.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && !c.closed.Load() && !errors.Is(err, net.ErrClosed) {
		c.dialer.broken(c.address, err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && !c.closed.Load() && !errors.Is(err, net.ErrClosed) {
		c.dialer.broken(c.address, err)
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
