package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/eclipse/paho.golang/paho/session/state"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// link is an MQTT client: one network connection after the other.
type link struct {
	*kit.Link[client, *client] // nil: of an exchange
	session                    *session
	base                       *kit.Base // it connects by
	key                        kit.Key
	id                         string // the client identifier
	v5                         bool
	clean                      bool
	consumer                   *consumer    // nil: for producers
	state5                     *state.State // of the client library, for a session that outlives connections; used by the connecting goroutine
}

// client is a connection of a link.
type client struct{ connection }

// newClient returns a link that connects once.
func (s *session) newClient(b *kit.Base, key kit.Key) *link {
	return &link{session: s, base: b, key: key, v5: s.options.v5(), clean: true,
		id: fmt.Sprintf("%s%s-%s-%s-%s", s.Target.Prefix, s.options.ClientID, s.Target.Run, s.Nonce, key)}
}

// newLink returns a link of producers, or of a consumer if that is not nil.
func (s *session) newLink(key kit.Key, c *consumer) *link {
	l := s.newClient(s.Base, key)
	l.consumer = c
	l.Link = kit.NewLink[client, *client](s.Base, kit.LinkConfig[client]{
		Name: key.String(), Role: key.Role, Dial: l.dial, Passes: passes, Wait: s.options.ReconnectWait})
	return l
}

// dial connects, logs in and subscribes. Each link begins with another server.
func (l *link) dial(ctx context.Context) (*client, error) {
	s := l.session
	how := kit.Connecting{Timeout: s.options.ConnectTimeout,
		Hint: "is this an MQTT listener, does it want encryption or a client certificate, does it speak MQTT " + s.options.Version + "?"}
	return kit.Connect(ctx, l.base, s.From(l.key.Conn), how, func(ctx context.Context, to kit.Conn) (*client, error) {
		var err error
		if isWebSocket(to.To) {
			if to, err = overWebSocket(ctx, to, l.base.Address.Path); err != nil {
				return nil, err
			}
		}
		c, err := l.open(ctx, to)
		if err != nil {
			return nil, err
		}
		if l.consumer != nil {
			if err := c.subscribe(ctx, l.consumer); err != nil {
				to.Close()
				c.End(driver.ErrNotConnected)
				return nil, err
			}
		}
		return &client{c}, nil
	})
}

// open logs in, by the client that was chosen. What is asked beside the messages is
// asked by the direct one.
func (l *link) open(ctx context.Context, to kit.Conn) (connection, error) {
	switch {
	case !l.session.options.library() || l.key.Role == kit.Control:
		return l.greet(to)
	case l.v5:
		return l.open5(ctx, to)
	}
	return l.open3(to)
}

// login returns how the link's client logs in.
func (l *link) login() login {
	o := l.session.options
	hello := login{v5: l.v5, clean: l.clean, id: l.id, user: l.session.User, password: l.session.Secret,
		// The client speaks once in keep_alive; the broker waits for half as much
		// again.
		keepAlive: uint16(min(max(1, o.KeepAlive/time.Second), 1<<16-1))}
	if l.consumer != nil {
		hello.receiveMaximum = uint16(o.ReceiveMaximum)
		if !l.clean {
			hello.sessionExpiry = uint32(o.SessionExpiry / time.Second)
		}
	}
	return hello
}

// greet logs in by a packet of the driver's own.
func (l *link) greet(to kit.Conn) (connection, error) {
	w := newWire(l, to)
	asked := time.Now()
	if err := w.writer.Write(appendConnect(nil, l.login())); err != nil {
		return nil, err
	}
	first, body, err := w.next()
	if errors.Is(err, io.EOF) && time.Since(asked) >= tried {
		err = fmt.Errorf("%w: %w", errGaveUp, err)
	}
	if err != nil {
		return nil, err
	}
	if first != typeConnack {
		return nil, fmt.Errorf("%w: the server answers with a packet of type %d", driver.ErrNotConnected, first>>4)
	}
	g, err := parseConnack(l.v5, body)
	if err != nil {
		return nil, fmt.Errorf("%w: the server's answer to the login: %w", driver.ErrNotConnected, err)
	}
	if g.code != 0 {
		return nil, refusal(g.code, g.text)
	}
	w.welcome, w.aliases.most = g, g.aliases
	w.flight.init(l.session.options.inflight(&g), w.writer.Flush)
	return w, nil
}
