package kafka

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// dialer makes the connections of one client, keeps hold of them, and tells of
// those that are lost and come back.
type dialer struct {
	session *session
	key     kit.Key         // whose connections they are
	maker   context.Context // of the call that made the client: its values are those of the connections
	logins  *logins

	mu    sync.Mutex
	seeds int // addresses of the target that were not tried yet, while none has answered
	dead  bool
	conns map[*conn]struct{}
	lost  map[string]bool // addresses whose connection was lost
}

// dial is for kgo.Dialer.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s := d.session
	if err := d.logins.await(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	raw, err := s.Target.Dial(driver.WithRole(kit.WithValues(ctx, d.maker), d.key.Role), network, address)
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
	d.conns[c], d.seeds = struct{}{}, 0
	d.mu.Unlock()
	host, _, _ := net.SplitHostPort(address)
	made := kit.Conn{Conn: c, Raw: c}
	if err := made.Encrypt(ctx, s.TLS, kit.Server{Address: address, Host: host, TLS: s.TLS != nil}); err != nil {
		c.Close()
		return nil, err
	}
	return made.Conn, nil
}

// timeout returns how long the next connection may take. The client tries one address of the target after the other: of the time
// that the call has which made it, each has its part.
func (d *dialer) timeout() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := d.seeds
	d.seeds = max(0, d.seeds-1)
	return kit.Share(d.maker, d.session.options.ConnectTimeout, left)
}

func (d *dialer) tell(kind driver.EventKind, what string) {
	d.session.Target.Notify(driver.Event{Kind: kind, Detail: d.key.String() + ": " + what})
}

// quiet lets connections end without a word: the client is being closed.
func (d *dialer) quiet() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.closed.Store(true)
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
	return errors.Join(c.SetReadDeadline(t), c.Conn.SetWriteDeadline(t))
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.failed(err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.failed(err)
	}
	return n, err
}

// failed notes that the connection has ended, unless it was closed.
func (c *conn) failed(err error) {
	if c.closed.Load() || errors.Is(err, net.ErrClosed) {
		return
	}
	d := c.dialer
	d.mu.Lock()
	first := !d.lost[c.address] && !d.dead
	d.lost[c.address] = true
	d.mu.Unlock()
	if d.key.Role == kit.Producer && !d.session.options.acknowledged() {
		d.session.lostUnanswered()
	}
	if first {
		d.tell(driver.Disconnected, c.address+": "+err.Error())
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
