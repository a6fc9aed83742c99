package kit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"sixnines/driver"
)

// Conn is a network connection to a server, encrypted where that is asked for.
type Conn struct {
	net.Conn
	To  Server               // which server
	Raw net.Conn             // below encryption: closing it waits for nothing
	TLS *tls.ConnectionState // nil: plain
}

// Close ends the connection without TLS's close alert, which would wait for a
// server that is stuck.
func (c Conn) Close() error { return c.Raw.Close() }

// Connecting is how a driver connects.
type Connecting struct {
	// Timeout is the longest time for one server to accept a connection and a login, see [Share].
	Timeout time.Duration
	// Hint says what a server that hangs up or answers strangely most likely is, such
	// as "is this an MQTT listener?".
	Hint string
}

// Connect connects to the first of the servers that takes the login, and ends with ctx
// and with the session. login logs in over the connection, which it need not close if
// it fails; ctx ending closes the connection under it. Errors wrap a class, say to which
// server, and what that most likely comes from.
func Connect[C any](ctx context.Context, b *Base, servers []Server, how Connecting, login func(ctx context.Context, c Conn) (C, error)) (C, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(b.Life, func() { cancel(driver.ErrClosed) })()
	var none C
	var errs []error
	for i, to := range servers {
		each := how
		each.Timeout = Share(ctx, how.Timeout, len(servers)-i)
		c, err := connect(ctx, b, to, each, login)
		if err == nil {
			return c, nil
		}
		if b.Closed() {
			return none, b.over("connect")
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return none, errors.Join(errs...)
}

// Share returns how long one of the servers that are left may take, at most the timeout: so that one that does not answer leaves
// the others their part of the time until ctx ends.
func Share(ctx context.Context, timeout time.Duration, left int) time.Duration {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		return min(timeout, time.Until(end)/time.Duration(left))
	}
	return timeout
}

// connect connects to one server.
func connect[C any](ctx context.Context, b *Base, to Server, how Connecting, login func(ctx context.Context, c Conn) (C, error)) (C, error) {
	limited, cancel := context.WithTimeout(ctx, how.Timeout)
	defer cancel()
	var none C
	raw, err := b.Target.Dial(limited, to.Network(), to.Address)
	if err != nil {
		return none, connectError(ctx, limited, b, to, how, err)
	}
	stop := context.AfterFunc(limited, func() { raw.Close() })
	c := Conn{Conn: raw, Raw: raw, To: to}
	var made C
	if err = c.Encrypt(limited, b.TLS, to); err == nil {
		if made, err = login(limited, c); err == nil {
			driver.LoggedIn(ctx)
		}
	}
	// A context that is over may not have begun to close the connection yet.
	if (!stop() || limited.Err() != nil) && err == nil {
		err = context.Cause(limited)
		if late, ok := any(made).(Wire); ok { // it may have goroutines
			late.End(driver.ErrNotConnected)
		}
	}
	if err != nil {
		raw.Close()
		return none, connectError(ctx, limited, b, to, how, err)
	}
	return made, nil
}

// Encrypt wraps TLS around the connection, if the server speaks it.
func (c *Conn) Encrypt(ctx context.Context, config *tls.Config, to Server) error {
	if !to.TLS {
		return nil
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = to.Host
	}
	encrypted := tls.Client(c.Raw, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return &driver.HandshakeError{Cause: err}
	}
	state := encrypted.ConnectionState()
	c.Conn, c.TLS = encrypted, &state
	return nil
}

// connectError says why there is no connection to the server, and what that most likely
// comes from.
func connectError(ctx, limited context.Context, b *Base, to Server, how Connecting, err error) error {
	doing := b.Driver + ": connect to " + to.Address
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w: %w", doing, driver.ErrNotConnected, context.Cause(ctx))
	case limited.Err() != nil:
		return silent{fmt.Errorf("%s: %w: no answer in %v; %s", doing, driver.ErrNotConnected, how.Timeout.Round(time.Millisecond), how.Hint)}
	}
	switch class := b.ClassOf(err); class {
	case driver.ErrUnauthorized:
		return fmt.Errorf("%s: log in to %s: %w", b.Driver, to.Address, withClass(class, err))
	case driver.ErrNotConnected, driver.ErrTimeout, driver.ErrClosed: // whichever side ended it
		return fmt.Errorf("%s: %w%s", doing, withClass(driver.ErrNotConnected, err), Hint(to, how, err))
	default:
		return fmt.Errorf("%s: %w", doing, withClass(class, err))
	}
}

// silent is an error that says that a server did not answer in time, as [net.Error] does.
type silent struct{ error }

func (silent) Timeout() bool   { return true }
func (s silent) Unwrap() error { return s.error }

// values is a context with the values of another.
type values struct {
	context.Context
	of context.Context
}

func (v values) Value(key any) any { return v.of.Value(key) }

// WithValues returns a context that ends with life and has the values of another, such as what [driver.LoggedIn] tells: for client
// libraries that take no context where they dial.
func WithValues(life, of context.Context) context.Context { return values{life, of} }

// withClass adds the class to an error that does not wrap it.
func withClass(class, err error) error {
	if errors.Is(err, class) {
		return err
	}
	return fmt.Errorf("%w: %w", class, err)
}

// Hint says what an error on the way to a login most likely comes from: it is empty, or
// begins with a semicolon.
func Hint(to Server, how Connecting, err error) string {
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var network *net.OpError
	inTime := errors.As(err, &network)
	switch {
	case errors.As(err, &record):
		return "; the server does not speak TLS there: use the scheme without it, or the port of its TLS listener"
	case errors.As(err, &authority):
		return "; set tls.ca to the certificate of the server's authority"
	case errors.As(err, &name):
		return "; set tls.server_name to a name in the server's certificate"
	case errors.As(err, &invalid):
		return "" // the error says what is wrong with the certificate
	case inTime && (network.Op == "remote error" || to.TLS && network.Op != "dial"):
		// The server's alert is lost if it closes the connection before the alert is read.
		return "; the server may want a client certificate: set tls.cert and tls.key"
	case inTime && network.Op == "dial":
		return "" // no server listens
	case inTime && network.Op == "read", strings.Contains(err.Error(), "EOF"):
		return "; the server has ended the connection; " + how.Hint
	}
	return "; " + how.Hint
}
