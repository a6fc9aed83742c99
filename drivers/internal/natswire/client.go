// Package natswire is what the drivers of core NATS and of JetStream have in
// common: connections of github.com/nats-io/nats.go, and the way past it. NATS
// Streaming connects as they do.
//
// The library connects, logs in, subscribes and reconnects. Over plain TCP the
// messages themselves go past it, see Publisher and frameReader, unless option client
// has it do all.
package natswire

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Client is the base of a session, and makes and keeps its links. Its methods are safe
// for concurrent use.
type Client struct {
	*kit.Base
	options     Options
	how         string // connections log in, for people
	logIn       nats.Option
	writeBuffer int // bytes; 1: none
	control     *Link
	links       *kit.Pool[kit.Key, *Link]
	wrapped     bool // the server insists on TLS without being asked
}

// schemes are those of servers' URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{{Name: "nats", Port: "4222"}, {Name: "tls", Port: "4222", TLS: true}, {Name: "ws", Port: "80"}, {Name: "wss", Port: "443", TLS: true}}
}

// Schemes are the names of those of servers' URLs.
func Schemes() []string { return kit.Names(schemes()...) }

// NewClient returns one that is not connected. Errors begin with the product's name.
func NewClient(product string, t driver.Target, o Options) (*Client, error) {
	b, err := kit.NewBase(Errors(product), t, o.User, o.Password, schemes()...)
	if err != nil {
		return nil, err
	}
	c := &Client{Base: b, options: o, writeBuffer: kit.WriteBuffer(o.WriteBuffer, t.Batch)}
	c.links = kit.NewPool(product, c.connect, func(ctx context.Context, l *Link) { l.close(ctx) })
	return c, nil
}

// InboxPrefix begins the subjects of answers and deliveries.
func (c *Client) InboxPrefix() string { return cmp.Or(c.options.InboxPrefix, c.Target.Prefix+"_INBOX") }

// Subject returns that of a topic of the run, whose name has been checked.
func (c *Client) Subject(topic string) string { return Naming().TopicName(c.Target, topic) }

// Reach checks the options and connects the control link, beside those of producers and
// consumers. It lasts as long as the client.
func (c *Client) Reach(ctx context.Context) (err error) {
	if c.TLS == nil && c.options.TLSFirst {
		if c.TLS, err = c.Target.TLS.Config(""); err != nil {
			return fmt.Errorf("%s: %w", c.Driver, err)
		}
	}
	if c.how, c.logIn, err = c.authentication(); err != nil {
		return err
	}
	if err := CheckName(c.Driver, "run", c.Target.Run); err != nil {
		return err
	}
	if c.control, err = c.Acquire(ctx, kit.Key{Role: kit.Control}); err != nil {
		return err
	}
	_, err = c.control.nc.TLSConnectionState()
	c.wrapped = err == nil
	return nil
}

// Control returns the link that is no producer's and no consumer's.
func (c *Client) Control() *Link { return c.control }

// Acquire returns the link called key, connecting it for its first user.
func (c *Client) Acquire(ctx context.Context, key kit.Key) (*Link, error) {
	return c.links.Acquire(ctx, key)
}

// Release gives a link back and closes it after its last user.
func (c *Client) Release(ctx context.Context, l *Link) { c.links.Release(ctx, l.key, l) }

// Close ends all that the session keeps and closes all links by ctx's deadline, and lets
// no new ones be made.
func (c *Client) Close(ctx context.Context) error { return c.Base.Close(ctx, c.links.Close) }

// Direct reports whether messages go past the library: options do not forbid it, and
// it can be done. What TLS and WebSocket wrap around frames is left to the library.
func (c *Client) Direct() bool {
	return c.options.Client == Direct && !c.wrapped && c.TLS == nil && c.Servers[0].Scheme == "nats"
}
