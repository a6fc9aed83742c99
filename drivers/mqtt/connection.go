package mqtt

import (
	"context"
	"net"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// connection is a network connection by either client, from the login until it
// breaks. Its methods may be called by several goroutines. No message is delivered any
// more when End returns.
type connection interface {
	kit.Wire
	limits() *greeting // what the broker said at the login
	// send is Send of driver.Producer. An error says that the message has not been
	// sent and never will be.
	send(p *producer, token uint64, payload []byte) error
	// sync returns when the broker has read what was sent before and, if all is true,
	// has acknowledged it. A write in it may take longer than ctx.
	sync(ctx context.Context, all bool) error
	// subscribe returns when the broker has granted the subscriptions. Messages may
	// be delivered before.
	subscribe(ctx context.Context, c *consumer) error
	// unsubscribe asks the broker to end the subscriptions, and has c.leave called when
	// what came before the answer is delivered and acknowledged. False: it cannot ask.
	unsubscribe(c *consumer) bool
}

// shared is what a connection has by any client.
type shared struct {
	link    *link
	raw     net.Conn // below encryption: closing it waits for nothing
	welcome greeting
	aliases aliases
	flight  flight
}

// limits implements connection.
func (c *shared) limits() *greeting { return &c.welcome }

// settled is the end of sync: it waits for acknowledgements if all is true.
func (c *shared) settled(ctx context.Context, all bool) error {
	if empty := c.flight.empty(); all && empty != nil {
		select {
		case <-empty:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if c.flight.over() {
		return driver.ErrNotConnected
	}
	return nil
}

// aliases numbers topics on one connection.
type aliases struct {
	most int // how many the broker takes
	used atomic.Int64
}

// next returns a number that is free, or 0.
func (a *aliases) next() uint16 {
	if n := a.used.Add(1); n <= int64(a.most) {
		return uint16(n)
	}
	return 0
}
