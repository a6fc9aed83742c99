package natswire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Errors makes the errors of a driver whose client is nats.go.
func Errors(product string) *kit.Errors { return &kit.Errors{Driver: product, Class: class} }

// class returns the class of an error of nats.go; nil: not one of nats.go.
func class(err error) error {
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
		{nats.ErrPermissionViolation, driver.ErrForbidden},
		{nats.ErrNkeysNotSupported, driver.ErrUnauthorized},
		{nats.ErrHeadersNotSupported, driver.ErrUnsupported},
		{nats.ErrMaxSubscriptionsExceeded, driver.ErrRejected},
		{nats.ErrNoResponders, driver.ErrRejected},
		{nats.ErrBadSubject, driver.ErrNoTopic},
		{nats.ErrTimeout, driver.ErrTimeout},
		{nats.ErrConnectionClosed, driver.ErrClosed},
		{nats.ErrConnectionDraining, driver.ErrClosed},
		{nats.ErrBadSubscription, driver.ErrClosed},
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
	return nil
}

// CheckName refuses names that are no plain part of a subject.
func CheckName(product, what, name string) error {
	if name == "" || strings.ContainsAny(name, "*> \t\r\n") || strings.HasPrefix(name, ".") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return fmt.Errorf("%s: %s %q: %w: names are not empty and have no spaces, wildcards or empty parts between dots", product, what, name, driver.ErrUnsupported)
	}
	return nil
}
