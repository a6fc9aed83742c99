package stan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// errNobody says that no streaming server answers.
var errNobody = errors.New("there is a NATS server, but no streaming server answers")

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: product, Class: classOf} }

// wrap adds what was being done, and the class, to an error of the libraries.
func wrap(err error, format string, args ...any) error {
	return failures().Wrap(err, format, args...)
}

// classOf returns the class of an error of the libraries.
func classOf(err error) error {
	for _, c := range []struct{ err, class error }{
		{client.ErrBadConnection, driver.ErrNotConnected},
		{client.ErrMaxPings, driver.ErrNotConnected},
		{client.ErrTimeout, driver.ErrTimeout},
		{client.ErrSubReqTimeout, driver.ErrTimeout},
		{client.ErrUnsubReqTimeout, driver.ErrTimeout},
		{client.ErrCloseReqTimeout, driver.ErrTimeout},
		// Sent, perhaps, and then the connection ended: the server may have it.
		{client.ErrConnectionClosed, driver.ErrTimeout},
		{nats.ErrConnectionClosed, driver.ErrNotConnected}, // ours are closed by us or lost; we know which
	} {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	if text := err.Error(); strings.HasPrefix(text, "stan:") || strings.Contains(text, "too many") {
		return driver.ErrRejected // the streaming server's words
	}
	return natswire.Errors(product).ClassOf(err)
}

// passes reports whether an error goes away by itself, where a streaming server
// has answered before: its cluster elects a leader, or it is coming back.
func passes(err error) bool {
	class := failures().ClassOf(err)
	return class == driver.ErrTimeout || class == driver.ErrNotConnected
}

// permission returns what the NATS server has refused, instead of err, which is
// then only its consequence.
func permission(nc *nats.Conn, err error) error {
	if last := nc.LastError(); err != nil && errors.Is(last, nats.ErrPermissionViolation) {
		return fmt.Errorf("%w: %w", driver.ErrForbidden, last)
	}
	return err
}
