package stan

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
)

// classOf returns the class of an error of the clients.
func classOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	for _, c := range []struct{ err, class error }{
		{nats.ErrNoServers, driver.ErrNotConnected},
		{nats.ErrNoResponders, driver.ErrNotConnected},
		{nats.ErrStaleConnection, driver.ErrNotConnected},
		{nats.ErrConnectionClosed, driver.ErrNotConnected}, // ours are closed by us or lost; we know which
		{nats.ErrMaxPayload, driver.ErrTooLarge},
		{nats.ErrAuthorization, driver.ErrUnauthorized},
		{nats.ErrAuthExpired, driver.ErrUnauthorized},
		{nats.ErrPermissionViolation, driver.ErrUnauthorized},
		{nats.ErrTimeout, driver.ErrTimeout},
		{client.ErrTimeout, driver.ErrTimeout},
		// Sent, and then the connection ended: the server may have it.
		{client.ErrConnectionClosed, driver.ErrTimeout},
		{context.DeadlineExceeded, driver.ErrTimeout},
		{context.Canceled, driver.ErrClosed},
	} {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "authentication") || strings.Contains(text, "authorization") || strings.Contains(text, "permissions violation"):
		return driver.ErrUnauthorized
	case strings.HasPrefix(text, "stan:") || strings.Contains(text, "too many"):
		return driver.ErrRejected // the streaming server's words
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return driver.ErrTimeout
	}
	return driver.ErrNotConnected // what remains is the socket's
}

// errNobody says that no streaming server answers.
var errNobody = errors.New("there is a NATS server, but no streaming server answers")

// passes reports whether an error goes away by itself, where a streaming server
// has answered before: its cluster elects a leader, or it is coming back.
func passes(err error) bool {
	class := classOf(err)
	return errors.Is(err, errNobody) || class == driver.ErrTimeout || class == driver.ErrNotConnected
}

// wrap adds what was being done, and the class, to an error of the clients.
func wrap(err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("stan: %s: %w", fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("stan: %s: %w: %w", fmt.Sprintf(format, args...), classOf(err), err)
}

// refusal is what the streaming server says in its answers; empty: nothing.
func refusal(text string) error {
	if text == "" {
		return nil
	}
	return fmt.Errorf("%w: the server says %q", driver.ErrRejected, text)
}
