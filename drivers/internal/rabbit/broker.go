// Package rabbit is what the drivers of RabbitMQ's protocols share beside the kit and the
// protocols themselves: how one logs in, what a connection is below its frames, links of
// such connections, and one to administer with.
package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Protocol is one that the broker speaks, as seen by its driver.
type Protocol struct {
	kit.Errors
	Schemes []kit.Scheme
	// Hint says what a server that hangs up or answers strangely most likely is.
	Hint string
	// Passes reports of an error whether it goes away by itself: a queue or stream has
	// no leader yet, a virtual host is not up.
	Passes func(err error) bool
}

// Config says how connections log in.
type Config struct {
	VHost          string
	User, Password string
	External       bool          // by the client's certificate instead
	Name           string        // of the connection, for people
	FrameMax       int           // bytes; 0: the server's
	Heartbeat      time.Duration // 0: none; the smaller of this and the server's, in whole seconds
	// WriteBuffer is how many bytes are collected before they are written; up to 1:
	// each message is written at once.
	WriteBuffer int

	kit.ConnectOptions
}

// SASL returns the mechanism to log in by, and what it says.
func (c *Config) SASL() (mechanism, response string) {
	if c.External {
		return "EXTERNAL", ""
	}
	return "PLAIN", "\x00" + c.User + "\x00" + c.Password
}

// Broker is the base of a session: where its broker is, and how to log in there.
type Broker struct {
	*kit.Base
	Config Config // complete, but for the connections' roles in their names

	protocol *Protocol
}

// NewBroker reads the target's URL. What the configuration leaves empty it takes from
// there, or else as the broker does when it is new: guest, and the virtual host "/".
func NewBroker(p *Protocol, t driver.Target, c Config) (*Broker, error) {
	base, err := kit.NewBase(&p.Errors, t, c.User, c.Password, p.Schemes...)
	if err != nil {
		return nil, err
	}
	if err := base.NeedsUser(); err != nil {
		return nil, err
	}
	b := &Broker{Base: base, Config: c, protocol: p}
	if c.External && (b.TLS == nil || len(b.TLS.Certificates) == 0) {
		return nil, p.Option("login", "external wants tls.cert and tls.key")
	}
	if b.User == "" && b.Secret == "" {
		b.User, b.Secret = "guest", "guest"
	}
	b.Config.User, b.Config.Password = b.User, b.Secret
	b.Config.Name = t.Prefix + b.Config.Name + " " + t.Run
	if b.Config.VHost == "" {
		b.Config.VHost = b.Path
	}
	if b.Config.VHost == "" {
		b.Config.VHost = "/"
	}
	return b, nil
}

// ConfigOf returns the configuration of connections in a role.
func (b *Broker) ConfigOf(role string) Config {
	c := b.Config
	c.Name += " " + role
	return c
}

// Over adds to an error that the session has closed, if it has.
func (b *Broker) Over(err error) error {
	if err != nil && b.Closed() {
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	}
	return err
}

// Clustered reports whether there are several servers.
func (b *Broker) Clustered() bool { return len(b.Servers) > 1 }

// Preferring returns the servers with one at the address before them, reached as
// they are.
func Preferring(address string, servers []kit.Server) []kit.Server {
	first := servers[0]
	first.Address = address
	first.Host, _, _ = net.SplitHostPort(address)
	return slices.Insert(servers, 0, first)
}

// Opener logs in over a connection to a server.
type Opener[C any] func(ctx context.Context, c kit.Conn) (C, error)

// Connect connects to the first of the servers that takes the login.
func Connect[C any](ctx context.Context, b *Broker, servers []kit.Server, open Opener[C]) (C, error) {
	how := kit.Connecting{Timeout: b.Config.ConnectTimeout, Hint: b.protocol.Hint}
	return kit.Connect(ctx, b.Base, servers, how, func(ctx context.Context, c kit.Conn) (C, error) {
		made, err := open(ctx, c)
		if errors.Is(b.ClassOf(err), driver.ErrUnauthorized) {
			err = fmt.Errorf("%w; check user, password, and the user's permission for the virtual host", err)
		}
		return made, err
	})
}
