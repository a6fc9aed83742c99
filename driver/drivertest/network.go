package drivertest

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// network makes connections as the engine does: it keeps them, and closes them
// when it is told to.
type network struct {
	mu     sync.Mutex
	dialed int
	open   map[*conn]struct{}
}

type conn struct {
	net.Conn
	network *network
}

func newNetwork() *network { return &network{open: map[*conn]struct{}{}} }

func (n *network) dial(ctx context.Context, netw, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, netw, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed++
	kept := &conn{c, n}
	n.open[kept] = struct{}{}
	return kept, nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.network.mu.Lock()
	delete(c.network.open, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}

// cut closes all connections under the client.
func (n *network) cut() {
	n.mu.Lock()
	open := n.open
	n.open = map[*conn]struct{}{}
	n.mu.Unlock()
	for c := range open {
		c.Conn.Close()
	}
}

// used checks that connections were made through the network.
func (n *network) used() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dialed == 0 {
		return fmt.Errorf("no connection was made through Target.Dial; a client that dials by itself needs Capabilities.OwnsDialing")
	}
	return nil
}

// count returns how many connections have been made.
func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed
}

// left returns how many connections are open.
func (n *network) left() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}
