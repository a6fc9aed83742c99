package rabbitmq

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq/wire"
)

// admin declares and deletes, over a connection that is made again when it is
// lost. Its methods are safe for concurrent use.
type admin struct {
	session *session

	busy chan struct{} // holds a value while something is being done

	mu     sync.Mutex
	closed bool
	conn   *wire.Conn
	// Of the latest connection.
	server wire.Table
	to     server
	state  tls.ConnectionState
	frame  int
	beat   time.Duration
}

func newAdmin(s *session) *admin { return &admin{session: s, busy: make(chan struct{}, 1)} }

// connect makes a connection if there is none.
func (a *admin) connect(ctx context.Context) (*wire.Conn, error) {
	a.mu.Lock()
	conn := a.conn
	a.mu.Unlock()
	if conn != nil {
		select {
		case <-conn.Done():
		default:
			return conn, nil
		}
	}
	var err error
	for _, to := range a.session.servers {
		conn, err = a.dial(ctx, to)
		if class := driver.Class(err); err == nil || ctx.Err() != nil || class == driver.ErrClosed || class == driver.ErrUnauthorized {
			break
		}
	}
	return conn, err
}

func (a *admin) dial(ctx context.Context, to server) (*wire.Conn, error) {
	s := a.session
	ctx, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	c, err := s.dial(ctx, to)
	if err != nil {
		return nil, connectError(ctx, to, err)
	}
	conn, err := wire.Open(ctx, c, s.wireConfig("control"))
	if err != nil {
		return nil, connectError(ctx, to, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		conn.Kill()
		return nil, fmt.Errorf("rabbitmq: connect: session %w", driver.ErrClosed)
	}
	a.conn, a.to, a.server, a.frame, a.beat = conn, to, conn.Server(), conn.FrameMax(), conn.Heartbeat()
	if encrypted, ok := c.(*tls.Conn); ok {
		a.state = encrypted.ConnectionState()
	}
	return conn, nil
}

// do runs f with a channel of its own, one f at a time.
func (a *admin) do(ctx context.Context, f func(ch *wire.Channel) error) error {
	if err := context.Cause(ctx); err != nil {
		return wrap(err, "reach the broker")
	}
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return wrap(context.Cause(ctx), "reach the broker")
	}
	conn, err := a.connect(ctx)
	if err != nil {
		return err
	}
	ch, err := conn.Channel(ctx, silent{})
	if err != nil {
		return err
	}
	if err := f(ch); err != nil {
		if ctx.Err() != nil {
			conn.Kill() // an answer may still come, to another question then
		}
		return err
	}
	return ch.Close(ctx)
}

// close ends the connection, in an orderly way if there is time.
func (a *admin) close(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	conn := a.conn
	a.mu.Unlock()
	if conn != nil {
		conn.Close(ctx)
	}
}

// silent is the wire.Handler of channels on which nothing comes but answers.
type silent struct{}

func (silent) Deliver(wire.Delivery)      {}
func (silent) Confirm(uint64, bool, bool) {}
func (silent) Return(wire.Returned)       {}
func (silent) End(error)                  {}
