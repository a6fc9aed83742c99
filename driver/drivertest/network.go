package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// network makes connections as the engine does: it keeps them, and cut closes them.
type network struct {
	mu     sync.Mutex
	dialed int
	roles  map[driver.Role]int // how many of these connections were whose
	called int                 // of these, by a context of the call that they were made for, see ofCall
	open   map[*conn]struct{}
	used   chan struct{} // closed when a connection is first read or written
	first  sync.Once

	secret   atomic.Pointer[[]byte] // bytes that must not appear on the wire; nil: no check
	betrayed atomic.Bool            // they appeared
}

type conn struct {
	net.Conn
	network *network
}

func newNetwork() *network { return &network{open: map[*conn]struct{}{}, used: make(chan struct{})} }

func (n *network) dial(ctx context.Context, netw, address string) (net.Conn, error) {
	switch r := driver.RoleOf(ctx); r {
	case "", driver.RoleControl, driver.RoleProducer, driver.RoleConsumer:
	default:
		return nil, fmt.Errorf("drivertest: a connection is dialled with the role %q, which the contract does not have", r)
	}
	c, err := new(net.Dialer).DialContext(ctx, netw, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed++
	if n.roles == nil {
		n.roles = map[driver.Role]int{}
	}
	n.roles[driver.RoleOf(ctx)]++
	if ctx.Value(callKey{}) != nil {
		n.called++
	}
	kept := &conn{c, n}
	n.open[kept] = struct{}{}
	return kept, nil
}

// callKey is the key by which a context is known as that of one call.
type callKey struct{}

// ofCall returns a context for one call, whose connections byCall counts.
func ofCall(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, true) }

func (n *network) byCall() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.called
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	c.network.use()
	n, err := c.Conn.Read(p)
	c.network.see(p[:n])
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.network.use()
	c.network.see(p)
	return c.Conn.Write(p)
}

func (n *network) use() { n.first.Do(func() { close(n.used) }) }

// hide sets the bytes that must not appear on the wire from now on.
func (n *network) hide(secret []byte) { n.secret.Store(&secret) }

// see looks for the secret in the bytes of a connection.
func (n *network) see(p []byte) {
	if secret := n.secret.Load(); secret != nil && bytes.Contains(p, *secret) {
		n.betrayed.Store(true)
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.network.mu.Lock()
	delete(c.network.open, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}

// cut closes all connections without the client's knowledge.
func (n *network) cut() {
	n.mu.Lock()
	open := n.open
	n.open = map[*conn]struct{}{}
	n.mu.Unlock()
	for c := range open {
		c.Conn.Close()
	}
}

// count returns how many connections have been made.
func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed
}

// of returns how many connections were made that are whose.
func (n *network) of(r driver.Role) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.roles[r]
}

// left returns how many connections are open.
func (n *network) left() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}
