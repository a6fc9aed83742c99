package stan

import (
	"context"
	"net"
	"sync"
	"time"

	"sixnines/driver"
)

// dialer makes the network connection of one client of nats.go and keeps hold
// of it. The client writes holding a lock that its Close wants too, so the only
// way out of a write that the server does not read is to close the connection
// below.
type dialer struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	ctx     context.Context // ends with the dialer
	cancel  context.CancelFunc

	mu    sync.Mutex
	dead  bool
	conns []net.Conn
	err   error // of the last attempt
}

func newDialer(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), timeout time.Duration) *dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	d := &dialer{dial: dial, timeout: timeout}
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
	d.conns = append(d.conns, conn)
	return conn, nil
}

// lastError returns why the last attempt to dial failed, nil if it did not.
func (d *dialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// kill closes all connections and lets no new ones be made.
func (d *dialer) kill() {
	d.cancel()
	d.mu.Lock()
	d.dead = true
	conns := d.conns
	d.conns = nil
	d.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
}
