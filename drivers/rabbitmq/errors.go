package rabbitmq

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq/wire"
)

// The codes with which a broker closes connections and channels.
const (
	contentTooLarge    = 311
	connectionForced   = 320
	accessRefused      = 403
	notFound           = 404
	resourceLocked     = 405
	preconditionFailed = 406
	resourceError      = 506
	notAllowed         = 530
	notImplemented     = 540
)

// classOf returns the class of an error of either client, or of the socket.
func classOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	var ours *wire.Error
	var library *amqp.Error
	switch {
	case errors.As(err, &ours):
		return classOfCode(int(ours.Code), ours.Text)
	case errors.As(err, &library) && (library.Server || library.Code == accessRefused || library.Code == notAllowed):
		return classOfCode(library.Code, library.Reason)
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

func classOfCode(code int, text string) error {
	switch code {
	case contentTooLarge:
		return driver.ErrTooLarge
	case accessRefused, resourceLocked:
		return driver.ErrUnauthorized
	case notFound:
		return driver.ErrNoTopic
	case notAllowed:
		if strings.Contains(text, "vhost") || strings.Contains(text, "access to") {
			return driver.ErrUnauthorized
		}
		return driver.ErrUnsupported
	case preconditionFailed:
		if strings.Contains(text, "larger than configured max size") {
			return driver.ErrTooLarge
		}
		return driver.ErrRejected
	case notImplemented:
		return driver.ErrUnsupported
	case resourceError:
		return driver.ErrThrottled
	case connectionForced:
		return driver.ErrNotConnected
	}
	return driver.ErrNotConnected
}

// wrap adds what was being done, and the class, to an error of a client.
func wrap(err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("rabbitmq: %s: %w", fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("rabbitmq: %s: %w: %w", fmt.Sprintf(format, args...), classOf(err), err)
}

// connectError says why there is no connection to the server, and what that
// most likely comes from.
func connectError(ctx context.Context, to server, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("rabbitmq: connect to %s: %w: %w", to.address, driver.ErrNotConnected, context.Cause(ctx))
	}
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var alert *net.OpError
	hint := ""
	switch class := classOf(err); {
	case class == driver.ErrUnauthorized:
		return fmt.Errorf("rabbitmq: log in to %s: %w: %w; check user, password, and the user's permission for the virtual host", to.address, class, err)
	case errors.As(err, &record):
		hint = "; the server does not speak TLS there; give an amqp:// URL without tls settings, or the port of its TLS listener"
	case errors.As(err, &unknown):
		hint = "; set tls.ca to the certificate of the server's authority"
	case errors.As(err, &name):
		hint = "; set tls.server_name to a name in the server's certificate"
	case errors.As(err, &alert) && (alert.Op == "remote error" || to.tls && alert.Op != "dial"):
		// Its word on the matter is lost where it hangs up before it was read.
		hint = "; the server may want a client certificate: set tls.cert and tls.key"
	case !to.tls && (errors.Is(err, wire.ErrProtocol) || isClosedEarly(err)):
		hint = "; if the server wants TLS there, give an amqps:// URL"
	}
	return fmt.Errorf("rabbitmq: connect to %s: %w: %w%s", to.address, driver.ErrNotConnected, err, hint)
}

// isClosedEarly reports whether the peer hung up, instead of not being there.
func isClosedEarly(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op == "read"
	}
	return strings.Contains(err.Error(), "EOF")
}
