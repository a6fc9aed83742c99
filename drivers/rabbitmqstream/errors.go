package rabbitmqstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream/wire"
)

// isCode reports whether err is the broker's answer with the code.
func isCode(err error, code wire.Code) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == code
}

// classOf returns the class of an error of the connection.
func classOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	var e *wire.Error
	switch {
	case errors.As(err, &e):
		return classOfCode(e.Code)
	case wire.Refused(err):
		return driver.ErrUnauthorized
	case errors.Is(err, wire.ErrClosed), errors.Is(err, context.Canceled):
		return driver.ErrClosed
	case errors.Is(err, context.DeadlineExceeded):
		return driver.ErrTimeout
	}
	// What remains is the socket's.
	return driver.ErrNotConnected
}

func classOfCode(code wire.Code) error {
	switch code {
	case wire.NoStream:
		return driver.ErrNoTopic
	case wire.NoMechanism, wire.LoginFailed, wire.LoginError, wire.LoopbackOnly, wire.NoVHost, wire.AccessRefused:
		return driver.ErrUnauthorized
	case wire.FrameTooLarge:
		return driver.ErrTooLarge
	case wire.PreconditionFailed, wire.InternalError:
		return driver.ErrRejected
	case wire.OK, wire.NotAvailable:
		return driver.ErrNotConnected
	}
	return driver.ErrRejected
}

// wrap adds what was being done, and the class.
func wrap(err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("rabbitmq-stream: %s: %w", fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("rabbitmq-stream: %s: %w: %w", fmt.Sprintf(format, args...), classOf(err), err)
}

// connectError says why there is no connection to the server, and what that
// most likely comes from.
func connectError(ctx context.Context, to server, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("rabbitmq-stream: connect to %s: %w: %w", to.address, driver.ErrNotConnected, context.Cause(ctx))
	}
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var alert *net.OpError
	var op *net.OpError
	hint := ""
	switch class := classOf(err); {
	case class == driver.ErrUnauthorized:
		return fmt.Errorf("rabbitmq-stream: log in to %s: %w: %w; check user, password, and the user's permission for the virtual host", to.address, class, err)
	case errors.As(err, &record):
		hint = "; the server does not speak TLS there; give a rabbitmq-stream:// URL without tls settings, or the port of its TLS listener"
	case errors.As(err, &unknown):
		hint = "; set tls.ca to the certificate of the server's authority"
	case errors.As(err, &name):
		hint = "; set tls.server_name to a name in the server's certificate"
	case errors.As(err, &alert) && (alert.Op == "remote error" || to.tls && alert.Op != "dial"):
		// Its word on the matter is lost where it hangs up before it was read.
		hint = "; the server may want a client certificate: set tls.cert and tls.key"
	case !to.tls && (errors.Is(err, wire.ErrProtocol) || errors.As(err, &op) && op.Op == "read" || strings.Contains(err.Error(), "EOF")):
		hint = "; is it the port of the plugin rabbitmq_stream, which is not AMQP's? if it wants TLS, give a rabbitmq-stream+tls:// URL"
	}
	return fmt.Errorf("rabbitmq-stream: connect to %s: %w: %w%s", to.address, driver.ErrNotConnected, err, hint)
}
