package transport

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/relay"
)

// Dialer makes the connections of a session and can close them all, which is
// the only way to free a client that is stuck in a write. Its methods are safe
// for concurrent use.
type Dialer struct {
	net     net.Dialer
	via     *relay.Via // nil: connections are direct
	direct  bool
	threads atomic.Int64 // open connections, if direct; limits those with a thread of their own

	otherSides atomic.Int32 // nowhere, elsewhere or here, see Here

	// mu guards the fields below. No callback runs under it.
	mu      sync.Mutex
	conns   map[*Conn]struct{}          // open
	ends    map[netip.AddrPort]struct{} // of those that were said to be a producer's or a consumer's
	log     []*Conn                     // all connections made until OnDial
	onExtra func(*Conn)                 // called for each further connection; nil: append it to log
}

// NewDialer returns a dialer. If direct, reads and writes of up to [directMost] bytes bypass
// Go's scheduler, and readers wait in the kernel (Linux only).
func NewDialer(direct bool) *Dialer {
	return &Dialer{direct: direct, conns: map[*Conn]struct{}{}, ends: map[netip.AddrPort]struct{}{}}
}

// NewDialerVia returns a dialer whose connections go through a relay; nil: it is that of [NewDialer]. What the kernel says of
// a connection is then about the part of the way to the relay.
func NewDialerVia(direct bool, via *relay.Via) *Dialer {
	d := NewDialer(direct)
	d.via = via
	return d
}

// Dial connects as net.Dialer does and returns its errors. The connection is a [*Conn].
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, far, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if d.otherSides.CompareAndSwap(nowhere, elsewhere); far.Here {
		d.otherSides.Store(here)
	}
	t := newConn(d, c)
	t.Role = driver.RoleOf(ctx)
	d.mu.Lock()
	d.conns[t] = struct{}{}
	t.end = far.Address
	if t.carries() {
		d.ends[far.Address] = struct{}{}
	}
	onExtra := d.onExtra
	if onExtra == nil {
		d.log = append(d.log, t)
	}
	d.mu.Unlock()
	if onExtra != nil {
		onExtra(t)
	}
	return t, nil
}

// connect makes a connection. Its far end is the one behind a relay; of a connection that is not TCP it has no address.
func (d *Dialer) connect(ctx context.Context, network, address string) (c net.Conn, far relay.Far, err error) {
	if d.via != nil {
		return d.via.Dial(ctx, network, address)
	}
	if c, err = d.net.DialContext(ctx, network, address); err != nil {
		return nil, far, err
	}
	if to, is := c.RemoteAddr().(*net.TCPAddr); is {
		far.Address = netip.AddrPortFrom(to.AddrPort().Addr().Unmap(), to.AddrPort().Port())
	}
	far.Here = within(c)
	return c, far, nil
}

// Mark returns the number of connections made so far, for Since; 0 after OnDial.
func (d *Dialer) Mark() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Since returns the connections made since mark, a result of Mark. It panics after OnDial
// unless mark is 0.
func (d *Dialer) Since(mark int) []*Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log[mark:len(d.log):len(d.log)]
}

// OnDial makes Dial call f, on its own goroutine, with each further connection before it returns it,
// and clears the log that Mark and Since use.
func (d *Dialer) OnDial(f func(*Conn)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onExtra, d.log = f, nil
}

// Open returns the open connections, in no order.
func (d *Dialer) Open() []*Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*Conn, 0, len(d.conns))
	for c := range d.conns {
		out = append(out, c)
	}
	return out
}

// Ends returns the addresses to which connections of producers and consumers were made so far, in no order.
func (d *Dialer) Ends() []netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns { // those whose role was not said when they were made
		if c.carries() {
			d.ends[c.end] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(d.ends))
}

// CloseAll closes all open connections. It does not write their buffers and does not wait for
// their writers.
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

// forget removes a connection that is being closed.
func (d *Dialer) forget(c *Conn) {
	d.mu.Lock()
	_, open := d.conns[c]
	delete(d.conns, c)
	d.mu.Unlock()
	if open && d.direct {
		d.threads.Add(-1)
	}
}

// Values of Dialer.otherSides. They only grow.
const (
	nowhere   int32 = iota // no connection yet
	elsewhere              // all on other machines
	here                   // at least one on this machine
)

// Here reports whether at least one connection so far has both ends on this machine. known is
// false before the first connection.
func (d *Dialer) Here() (on, known bool) {
	where := d.otherSides.Load()
	return where == here, where != nowhere
}

// within reports whether both ends of a connection are on this machine. The kernel connects to
// an own address from that same address.
func within(c net.Conn) bool {
	from, ok := c.LocalAddr().(*net.TCPAddr)
	to, also := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return c.RemoteAddr().Network() == "unix"
	}
	return to.IP.IsLoopback() || to.IP.Equal(from.IP)
}
