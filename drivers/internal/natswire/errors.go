package natswire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

// ClassOf returns the class of an error of the client.
func ClassOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	for _, c := range []struct{ err, class error }{
		{nats.ErrReconnectBufExceeded, driver.ErrNotConnected},
		{nats.ErrConnectionReconnecting, driver.ErrNotConnected},
		{nats.ErrDisconnected, driver.ErrNotConnected},
		{nats.ErrStaleConnection, driver.ErrNotConnected},
		{nats.ErrNoServers, driver.ErrNotConnected},
		{nats.ErrMaxPayload, driver.ErrTooLarge},
		{nats.ErrAuthorization, driver.ErrUnauthorized},
		{nats.ErrAuthExpired, driver.ErrUnauthorized},
		{nats.ErrAuthRevoked, driver.ErrUnauthorized},
		{nats.ErrAccountAuthExpired, driver.ErrUnauthorized},
		{nats.ErrPermissionViolation, driver.ErrUnauthorized},
		{nats.ErrNkeysNotSupported, driver.ErrUnauthorized},
		{nats.ErrHeadersNotSupported, driver.ErrUnsupported},
		{nats.ErrMaxSubscriptionsExceeded, driver.ErrRejected},
		{nats.ErrNoResponders, driver.ErrRejected},
		{nats.ErrBadSubject, driver.ErrNoTopic},
		{nats.ErrTimeout, driver.ErrTimeout},
		{nats.ErrConnectionClosed, driver.ErrClosed},
		{nats.ErrConnectionDraining, driver.ErrClosed},
		{nats.ErrBadSubscription, driver.ErrClosed},
		{context.DeadlineExceeded, driver.ErrTimeout},
		{context.Canceled, driver.ErrClosed},
	} {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	// The server says "Authentication Timeout" and the like to clients that do
	// not log in properly; the client has no names for these.
	if text := strings.ToLower(err.Error()); strings.Contains(text, "authentication") || strings.Contains(text, "authorization") {
		return driver.ErrUnauthorized
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return driver.ErrTimeout
	}
	// What remains is the socket's.
	return driver.ErrNotConnected
}

// Wrap adds the product, what was being done, and the class, to an error of the
// library.
func Wrap(product string, err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("%s: %s: %w", product, fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("%s: %s: %w: %w", product, fmt.Sprintf(format, args...), ClassOf(err), err)
}
