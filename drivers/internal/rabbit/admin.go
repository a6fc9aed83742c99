package rabbit

import (
	"context"
	"crypto/tls"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Admin is a session's own connection, to create, delete and ask with: a link without
// events. It is safe for concurrent use.
type Admin[C AdminConn] struct {
	*Link[C]
	busy chan struct{} // holds a value while something is being done
}

// AdminConn is a connection of an admin's.
type AdminConn interface {
	Conn
	Below() kit.Conn
}

// NewAdmin returns one that is not connected.
func NewAdmin[C AdminConn](b *Broker, open Opener[C]) *Admin[C] {
	l := NewLink(b, kit.Control, string(kit.Control), func(ctx context.Context) (C, error) { return Connect(ctx, b, b.Servers, open) })
	l.Silent = true
	return &Admin[C]{Link: l, busy: make(chan struct{}, 1)}
}

// Latest returns the latest connection, which may have ended. There must have
// been one.
func (a *Admin[C]) Latest() C { return a.latest.Load().Conn }

// Do runs f with the connection, one f at a time. It runs f again, with a new
// connection, where the old one turns out to be lost: nothing may have happened,
// or all of it. It waits a moment for that, and repeats f where the broker cannot do
// it yet.
func (a *Admin[C]) Do(ctx context.Context, f func(c C) error) error {
	b, soon, passed := a.broker, kit.Moment(), false
	return kit.Await(ctx, b.Driver+": wait for the broker", func(err error) bool {
		if b.protocol.Passes(err) {
			passed = true
			return true
		}
		// The connection ended without an answer.
		lost := b.Class(err) == nil && b.ClassOf(err) == driver.ErrNotConnected
		return lost && (passed || soon())
	}, func() error { return a.do(ctx, f) })
}

func (a *Admin[C]) do(ctx context.Context, f func(c C) error) error {
	err := context.Cause(ctx)
	if err == nil {
		select {
		case a.busy <- struct{}{}:
			defer func() { <-a.busy }()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	w := a.Live()
	if err == nil && (w == nil || w.ended()) {
		err = a.Absent()
	}
	if err != nil {
		return a.broker.Wrap(err, "reach the broker")
	}
	return f(w.Conn)
}

// Describe adds to semantics how the session connects, which is the same over each
// protocol.
func (a *Admin[C]) Describe(sem *driver.Semantics) {
	below := a.Latest().Below()
	sem.Transport = "tcp"
	if below.TLS != nil {
		sem.Transport, sem.Encrypted = "tcp, "+strings.ToLower(tls.VersionName(below.TLS.Version)), true
	}
	set := sem.Settings
	set["reconnect_buffer"] = "none, sends fail while disconnected"
	set["connection_server"] = below.To.Address
}
