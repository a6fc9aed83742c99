package resp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
)

// Control is a session's connection for all that is not messages. It connects
// again when it must. Its methods are safe for concurrent use.
type Control struct {
	client *Client
	turn   chan struct{} // holds a token while nobody uses conn
	life   context.Context
	cancel context.CancelFunc
	conn   *Conn // nil: lost
}

// NewControl connects.
func NewControl(ctx context.Context, cl *Client) (*Control, error) {
	c := &Control{client: cl, turn: make(chan struct{}, 1)}
	var err error
	if c.conn, err = cl.first(ctx, "control"); err != nil {
		return nil, err
	}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.turn <- struct{}{}
	return c, nil
}

// Do sends a command and returns its reply, see Conn.Do. If the connection is
// lost it makes another and tries once more: commands here may be done twice.
// Errors wrap a class.
func (c *Control) Do(ctx context.Context, command string, args ...any) (any, error) {
	var reply any
	err := c.with(ctx, func(conn *Conn) (err error) {
		reply, err = conn.Do(command, args...)
		return err
	})
	return reply, err
}

func (c *Control) with(ctx context.Context, f func(*Conn) error) error {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	for again := false; ; again = true {
		if c.life.Err() != nil {
			return fmt.Errorf("session %w", driver.ErrClosed)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
		}
		if c.conn == nil {
			both, cancel := context.WithCancel(ctx)
			stop := context.AfterFunc(c.life, cancel)
			conn, err := c.client.Connect(both, "control")
			stop()
			cancel()
			if err != nil {
				return err
			}
			c.conn = conn
		}
		conn := c.conn
		stopCtx := context.AfterFunc(ctx, func() { conn.Close() })
		stopLife := context.AfterFunc(c.life, func() { conn.Close() })
		err := f(conn)
		inTime, alive := stopCtx(), stopLife()
		var reply redis.Error
		if !inTime || !alive || err != nil && !errors.As(err, &reply) {
			conn.Close()
			c.conn = nil
		}
		switch {
		case err == nil:
			return nil
		case errors.As(err, &reply):
			return explain(err)
		case !alive:
			return fmt.Errorf("session %w", driver.ErrClosed)
		case !inTime:
			return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
		case again:
			return explain(err)
		}
	}
}

// Transport says what lies below, empty if that is not known now.
func (c *Control) Transport(ctx context.Context) (transport string, err error) {
	err = c.with(ctx, func(conn *Conn) error {
		transport = conn.Transport()
		return nil
	})
	return transport, err
}

// Config returns a setting of the server.
func (c *Control) Config(ctx context.Context, name string) (string, error) {
	pairs, err := redis.StringMap(c.Do(ctx, "CONFIG", "GET", name))
	if err != nil {
		return "", explain(err)
	}
	value, ok := pairs[name]
	if !ok {
		return "", fmt.Errorf("%w: the server has no setting %s", driver.ErrUnsupported, name)
	}
	return value, nil
}

// Info returns what the server tells of itself.
func (c *Control) Info(ctx context.Context) (map[string]string, error) {
	text, err := redis.String(c.Do(ctx, "INFO"))
	if err != nil {
		return nil, explain(err)
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name[0] != '#' {
			info[name] = value
		}
	}
	return info, nil
}

// Close ends the connection. A running Do fails.
func (c *Control) Close(ctx context.Context) {
	c.cancel()
	select {
	case <-c.turn:
		if c.conn != nil {
			c.conn.Close()
			c.conn = nil
		}
		c.turn <- struct{}{}
	case <-ctx.Done():
	}
}
