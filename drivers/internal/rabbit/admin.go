package rabbit

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"sixnines/driver"
)

// Admin creates and deletes, over a connection that is made again when it is
// lost. Its methods are safe for concurrent use.
type Admin[C Conn] struct {
	broker *Broker
	open   Opener[C]

	busy chan struct{} // holds a value while something is being done

	mu        sync.Mutex
	closed    bool
	connected bool // once
	latest    Latest[C]
}

// Latest is an admin's latest connection, of which it may have been a while.
type Latest[C Conn] struct {
	Conn  C
	To    Server
	State tls.ConnectionState // the zero value without TLS
}

// NewAdmin returns one that does not connect before it has to.
func NewAdmin[C Conn](b *Broker, open Opener[C]) *Admin[C] {
	return &Admin[C]{broker: b, open: open, busy: make(chan struct{}, 1)}
}

// Latest returns the latest connection, which may have ended. There must have
// been one.
func (a *Admin[C]) Latest() Latest[C] {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest
}

// Connect makes a connection if there is none.
func (a *Admin[C]) Connect(ctx context.Context) error {
	p := a.broker.protocol
	return p.await(ctx, "connect", p.Passes, func() error {
		_, _, err := a.connect(ctx)
		return err
	})
}

// connect returns the connection, and whether it has been there for a while.
func (a *Admin[C]) connect(ctx context.Context) (conn C, old bool, err error) {
	a.mu.Lock()
	conn, connected := a.latest.Conn, a.connected
	a.mu.Unlock()
	if connected {
		select {
		case <-conn.Done():
		default:
			return conn, true, nil
		}
	}
	for _, to := range a.broker.servers {
		conn, err = a.dial(ctx, to)
		if class := driver.Class(err); err == nil || ctx.Err() != nil || class == driver.ErrClosed || class == driver.ErrUnauthorized {
			break
		}
	}
	return conn, false, err
}

func (a *Admin[C]) dial(ctx context.Context, to Server) (C, error) {
	var state tls.ConnectionState
	conn, err := connect(ctx, a.broker, to, func(ctx context.Context, c net.Conn) (C, error) {
		if encrypted, ok := c.(*tls.Conn); ok {
			state = encrypted.ConnectionState()
		}
		return a.open(ctx, c)
	})
	if err != nil {
		return conn, err
	}
	a.mu.Lock()
	closed := a.closed
	if !closed {
		a.connected, a.latest = true, Latest[C]{conn, to, state}
	}
	a.mu.Unlock()
	if closed {
		kill(conn)
		return conn, a.broker.protocol.overError()
	}
	return conn, nil
}

// Do runs f with the connection, one f at a time. It runs f once more, with a new
// connection, where the old one turns out to be lost: nothing may have happened,
// or all of it. It repeats f where the broker cannot do it yet.
func (a *Admin[C]) Do(ctx context.Context, f func(c C) error) error {
	p := a.broker.protocol
	return p.await(ctx, "wait for the broker", p.Passes, func() error { return a.do(ctx, f) })
}

func (a *Admin[C]) do(ctx context.Context, f func(c C) error) error {
	if err := context.Cause(ctx); err != nil {
		return a.broker.protocol.Wrap(err, "reach the broker")
	}
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return a.broker.protocol.Wrap(context.Cause(ctx), "reach the broker")
	}
	conn, old, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if err = f(conn); !old || ctx.Err() != nil || !a.broker.protocol.isLoss(err) {
		return err
	}
	kill(conn)
	if conn, _, err = a.connect(ctx); err != nil {
		return err
	}
	return f(conn)
}

// Close ends the connection, in an orderly way if there is time.
func (a *Admin[C]) Close(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	conn, connected := a.latest.Conn, a.connected
	a.mu.Unlock()
	if connected {
		conn.Close(ctx)
	}
}
