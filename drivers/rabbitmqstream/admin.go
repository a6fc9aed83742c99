package rabbitmqstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream/wire"
)

// admin creates and deletes, over a connection that is made again when it is
// lost. Its methods are safe for concurrent use.
type admin struct {
	session *session

	busy chan struct{} // holds a value while something is being done

	mu     sync.Mutex
	closed bool
	conn   *wire.Conn
	// Of the latest connection.
	server map[string]string
	to     server
	state  tls.ConnectionState
	frame  int
	room   int // for a payload in a frame
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
		return nil, fmt.Errorf("rabbitmq-stream: connect: session %w", driver.ErrClosed)
	}
	a.conn, a.to, a.server, a.frame, a.room, a.beat = conn, to, conn.Server(), conn.FrameMax(), conn.Room(), conn.Heartbeat()
	if encrypted, ok := c.(*tls.Conn); ok {
		a.state = encrypted.ConnectionState()
	}
	return conn, nil
}

// do runs f with the connection, one f at a time.
func (a *admin) do(ctx context.Context, f func(c *wire.Conn) error) error {
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
	return f(conn)
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
