package resp

import (
	"context"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Control is a session's connection for all that is not messages. It connects
// again when it must. Its methods are safe for concurrent use.
type Control struct {
	client    *Client
	at        *kit.Server // of a cluster; nil: whichever serves
	transport string
	life      context.Context // ends with Close, after the session's
	cancel    context.CancelFunc
	free      chan *Conn // holds the connection while it is not in use; nil: it is lost
}

// newControl connects, when the server is ready.
func newControl(ctx context.Context, cl *Client) (*Control, error) {
	c := unconnected(cl, nil)
	if err := kit.Await(ctx, cl.Driver+": connect", passes, func() error {
		conn, err := c.connect(ctx)
		if err == nil {
			c.transport = conn.Transport()
			<-c.free
			c.free <- conn
		}
		return err
	}); err != nil {
		c.cancel()
		return nil, err
	}
	return c, nil
}

// unconnected returns one that connects when it is first used.
func unconnected(cl *Client, at *kit.Server) *Control {
	c := &Control{client: cl, at: at, free: make(chan *Conn, 1)}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.free <- nil
	return c
}

func (c *Control) connect(ctx context.Context) (*Conn, error) {
	if c.at != nil {
		return connectMaster(driver.WithRole(ctx, kit.Control), c.client, *c.at, string(kit.Control), alone)
	}
	return connect(ctx, c.client, "", string(kit.Control), alone)
}

// Do sends a command and returns its reply, see Conn.Do. If the connection is
// lost it makes another and tries once more: commands here may be done twice.
func (c *Control) Do(ctx context.Context, command string, args ...any) (any, error) {
	return c.exchange(ctx, func(conn *Conn) (any, error) { return conn.Do(command, args...) })
}

// exchange is Do by what do sends.
func (c *Control) exchange(ctx context.Context, do func(conn *Conn) (any, error)) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(fmt.Errorf("session %w", driver.ErrClosed)) })()
	var conn *Conn
	select {
	case conn = <-c.free:
		defer func() { c.free <- conn }()
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	for again := false; ; again = true {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		if conn == nil {
			var err error
			if conn, err = c.connect(ctx); err != nil {
				return nil, err
			}
		}
		used := conn
		stop := context.AfterFunc(ctx, func() { used.Close() })
		reply, err := do(used)
		_, refused := ReplyText(err)
		if !stop() || err != nil && !refused {
			used.Close()
			conn = nil
		}
		switch {
		case err == nil:
			return reply, nil
		case refused:
			return nil, Explain(err)
		case ctx.Err() != nil:
			return nil, ended(ctx)
		case again:
			return nil, err
		}
	}
}

// ended is the error of what ctx has ended.
func ended(ctx context.Context) error {
	err := context.Cause(ctx)
	if driver.Class(err) == nil {
		err = fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	}
	return err
}

// Config returns a setting of the server.
func (c *Control) Config(ctx context.Context, name string) (string, error) {
	pairs, err := redis.StringMap(c.Do(ctx, "CONFIG", "GET", name))
	if err != nil {
		return "", err
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
		return nil, err
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
	case conn := <-c.free:
		if conn != nil {
			conn.Close()
		}
		c.free <- nil
	case <-ctx.Done():
	}
}
