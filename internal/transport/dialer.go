package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Dialer makes the connections of a session and can close them all, which is
// the one thing that frees a client stuck in a write. Its methods are safe for
// concurrent use.
type Dialer struct {
	net     net.Dialer
	direct  bool
	threads atomic.Int64 // connections that are open, if direct

	otherSides atomic.Int32 // where they are, see Here

	mu      sync.Mutex
	conns   map[*Conn]struct{}
	log     []*Conn // all so far, until OnDial
	onExtra func()  // called for each further one; nil: log it
}

// NewDialer returns a dialer. direct says that writes up to [directMost] bytes and
// reads bypass Go's scheduler, and that readers wait in the kernel.
func NewDialer(direct bool) *Dialer {
	return &Dialer{direct: direct, conns: map[*Conn]struct{}{}}
}

// Dial connects as net.Dialer does. The connection is a [*Conn].
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if d.otherSides.CompareAndSwap(nowhere, elsewhere); within(c) {
		d.otherSides.Store(here)
	}
	t := newConn(d, c)
	d.mu.Lock()
	d.conns[t] = struct{}{}
	onExtra := d.onExtra
	if onExtra == nil {
		d.log = append(d.log, t)
	}
	d.mu.Unlock()
	if onExtra != nil {
		onExtra()
	}
	return t, nil
}

// Mark returns how many connections were made so far, for Since.
func (d *Dialer) Mark() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Since returns the connections made since mark.
func (d *Dialer) Since(mark int) []*Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log[mark:len(d.log):len(d.log)]
}

// OnDial has f called after each further connection was made, and forgets those
// that were.
func (d *Dialer) OnDial(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onExtra, d.log = f, nil
}

// Open returns the connections that are open.
func (d *Dialer) Open() []*Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*Conn, 0, len(d.conns))
	for c := range d.conns {
		out = append(out, c)
	}
	return out
}

// CloseAll closes whatever is still open.
func (d *Dialer) CloseAll() {
	d.mu.Lock()
	conns := d.conns
	d.conns = map[*Conn]struct{}{}
	d.mu.Unlock()
	if d.direct {
		d.threads.Add(-int64(len(conns)))
	}
	for c := range conns {
		c.closed.Store(true)
		c.Conn.Close()
	}
}

// forget takes a connection that is being closed off the list.
func (d *Dialer) forget(c *Conn) {
	d.mu.Lock()
	_, open := d.conns[c]
	delete(d.conns, c)
	d.mu.Unlock()
	if open && d.direct {
		d.threads.Add(-1)
	}
}

// Where the other sides of connections are.
const (
	nowhere int32 = iota // there were no connections
	elsewhere
	here // one at least
)

// Here reports whether a connection that was made so far stays on this machine; not
// known before there was one.
func (d *Dialer) Here() (on, known bool) {
	where := d.otherSides.Load()
	return where == here, where != nowhere
}

// within reports whether both ends of a connection are on this machine: to any of its own
// addresses the kernel connects from the same.
func within(c net.Conn) bool {
	from, ok := c.LocalAddr().(*net.TCPAddr)
	to, also := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return c.RemoteAddr().Network() == "unix"
	}
	return to.IP.IsLoopback() || to.IP.Equal(from.IP)
}
