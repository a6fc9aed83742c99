package rabbit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"sixnines/driver"
)

// Opener logs in over a connection to a server, which it owns from then on, also
// if it fails.
type Opener[C any] func(ctx context.Context, c net.Conn) (C, error)

// Connect connects to the first of the servers that takes the login.
func Connect[C any](ctx context.Context, b *Broker, servers []Server, open Opener[C]) (c C, err error) {
	for _, to := range servers {
		if c, err = connect(ctx, b, to, open); err == nil || ctx.Err() != nil {
			break
		}
	}
	return c, err
}

func connect[C any](ctx context.Context, b *Broker, to Server, open Opener[C]) (c C, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	socket, err := b.reach(ctx, to)
	if err == nil {
		c, err = open(ctx, socket)
	}
	if err != nil {
		err = b.connectError(ctx, to, err)
	}
	return c, err
}

// reach connects to the server, and encrypts if that is asked for.
func (b *Broker) reach(ctx context.Context, to Server) (net.Conn, error) {
	c, err := b.dial(ctx, "tcp", to.Address)
	if err != nil || !to.TLS {
		return c, err
	}
	config := b.TLS
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = to.Host
	}
	encrypted := tls.Client(c, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return encrypted, nil
}

// connectError says why there is no connection to the server, and what that
// most likely comes from.
func (b *Broker) connectError(ctx context.Context, to Server, err error) error {
	p := b.protocol
	if ctx.Err() != nil {
		return fmt.Errorf("%s: connect to %s: %w: %w", p.Driver, to.Address, driver.ErrNotConnected, context.Cause(ctx))
	}
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var alert *net.OpError
	hint := ""
	switch class := p.ClassOf(err); {
	case class == driver.ErrUnauthorized:
		return fmt.Errorf("%s: log in to %s: %w: %w; check user, password, and the user's permission for the virtual host", p.Driver, to.Address, class, err)
	case errors.As(err, &record):
		hint = "; the server does not speak TLS there; give the URL as " + p.Plain.Name + "://… without tls settings, or the port of its TLS listener"
	case errors.As(err, &unknown):
		hint = "; set tls.ca to the certificate of the server's authority"
	case errors.As(err, &name):
		hint = "; set tls.server_name to a name in the server's certificate"
	case errors.As(err, &alert) && (alert.Op == "remote error" || to.TLS && alert.Op != "dial"):
		// Its word on the matter is lost where it hangs up before it was read.
		hint = "; the server may want a client certificate: set tls.cert and tls.key"
	case !to.TLS && (errors.Is(err, p.Foreign) || isClosedEarly(err)):
		hint = "; " + p.IfForeign
	}
	return fmt.Errorf("%s: connect to %s: %w: %w%s", p.Driver, to.Address, driver.ErrNotConnected, err, hint)
}

// isClosedEarly reports whether the peer hung up, instead of not being there.
func isClosedEarly(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op == "read"
	}
	return strings.Contains(err.Error(), "EOF")
}
