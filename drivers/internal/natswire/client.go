// Package natswire is what the drivers of core NATS and of JetStream have in
// common: connections of github.com/nats-io/nats.go, and the way past it. That of
// NATS Streaming reads URLs and dials as they do.
//
// The library connects, logs in, subscribes and reconnects. Over plain TCP the
// messages themselves go past it, see Publisher, batch and frameReader, unless
// Options.Library has it do all.
package natswire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Client makes and keeps the links of one session. Its methods are safe for
// concurrent use.
type Client struct {
	product        string // begins every error
	run            string
	options        Options
	servers        []string
	tls            *tls.Config
	authentication []nats.Option
	writeBuffer    int
	dial           func(ctx context.Context, network, address string) (net.Conn, error)
	notify         func(driver.Event)
	life           context.Context // ends when the client closes
	cancel         context.CancelFunc
	control        *Link
	links          *kit.Pool[Key, *Link]
	wrapped        bool // the server insists on TLS without being asked
}

// Open checks the target and the options, and connects the control link, which
// lasts as long as the client. Errors begin with the product's name.
func Open(ctx context.Context, product string, t driver.Target, o Options) (*Client, error) {
	c := &Client{product: product, run: t.Run, options: o, writeBuffer: o.writeBuffer(t.Batch), dial: t.Dial, notify: t.Notify}
	c.links = kit.NewPool(product, c.connect, func(ctx context.Context, l *Link) { l.close(ctx) })
	if c.notify == nil {
		c.notify = func(driver.Event) {}
	}
	var err error
	if c.servers, err = ParseServers(product, t.URL, "nats", "tls", "ws", "wss"); err != nil {
		return nil, err
	}
	if t.TLS != nil || o.TLSFirst {
		// The library fills in the name of the server that it comes to.
		if c.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("%s: %w", product, err)
		}
	}
	if c.authentication, err = o.authentication(product); err != nil {
		return nil, err
	}
	if err := CheckName(product, "run", t.Run); err != nil {
		return nil, err
	}
	c.life, c.cancel = context.WithCancel(context.Background())
	if c.control, err = c.Acquire(ctx, Key{Role: RoleControl}); err != nil {
		c.cancel()
		return nil, err
	}
	_, err = c.control.nc.TLSConnectionState()
	c.wrapped = err == nil
	return c, nil
}

// CheckName refuses names that are no plain part of a subject.
func CheckName(product, what, name string) error {
	if name == "" || strings.ContainsAny(name, "*> \t\r\n") || strings.HasPrefix(name, ".") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return fmt.Errorf("%s: %s %q: %w: names are not empty and have no spaces, wildcards or empty parts between dots", product, what, name, driver.ErrUnsupported)
	}
	return nil
}

// Control returns the link that is no producer's and no consumer's.
func (c *Client) Control() *Link { return c.control }

// Acquire returns the link called key, connecting it for its first user.
func (c *Client) Acquire(ctx context.Context, key Key) (*Link, error) {
	return c.links.Acquire(ctx, key)
}

// Release gives a link back and closes it after its last user.
func (c *Client) Release(ctx context.Context, l *Link) { c.links.Release(ctx, l.key, l) }

// Close closes all links by ctx's deadline, and lets no new ones be made.
func (c *Client) Close(ctx context.Context) {
	// Ends what is being dialled; established connections live on until their
	// links are closed.
	c.cancel()
	c.links.Close(ctx)
}

// Closed reports whether Close has begun.
func (c *Client) Closed() bool { return c.life.Err() != nil }

// Direct reports whether messages go past the library: options do not forbid it, and
// it can be done. What TLS and WebSocket wrap around frames is left to the library.
func (c *Client) Direct() bool {
	return !c.options.Library && !c.wrapped && c.tls == nil && strings.HasPrefix(c.servers[0], "nats://")
}

// Servers returns the servers' URLs without passwords and tokens.
func (c *Client) Servers() string { return Redact(c.servers) }

// WriteBuffer returns the size of the write buffer in bytes; 1: none.
func (c *Client) WriteBuffer() int { return c.writeBuffer }
