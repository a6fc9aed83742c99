package natswire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

func TestClass(t *testing.T) {
	for _, test := range []struct{ err, class error }{
		{nats.ErrReconnectBufExceeded, driver.ErrNotConnected},
		{nats.ErrNoServers, driver.ErrNotConnected},
		{nats.ErrMaxPayload, driver.ErrTooLarge},
		{fmt.Errorf("x: %w", nats.ErrPermissionViolation), driver.ErrUnauthorized},
		{errors.New("nats: Authentication Timeout"), driver.ErrUnauthorized},
		{nats.ErrConnectionClosed, driver.ErrClosed},
		{nats.ErrTimeout, driver.ErrTimeout},
		{nats.ErrMaxSubscriptionsExceeded, driver.ErrRejected},
		{context.DeadlineExceeded, driver.ErrTimeout},
		{os.ErrDeadlineExceeded, driver.ErrTimeout},
		{io.EOF, driver.ErrNotConnected},
		{net.ErrClosed, driver.ErrNotConnected},
		{fmt.Errorf("%w: %w", driver.ErrThrottled, io.EOF), driver.ErrThrottled},
	} {
		wrapped := Errors("nats").Wrap(test.err, "send to %q", "x")
		if got := driver.Class(wrapped); got != test.class {
			t.Errorf("%v: class %v, want %v", test.err, got, test.class)
		}
		if !errors.Is(wrapped, test.err) {
			t.Errorf("%v: the cause is lost", wrapped)
		}
	}
}
