package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
)

func TestClassOf(t *testing.T) {
	for _, test := range []struct{ err, class error }{
		{kgo.ErrClientClosed, driver.ErrClosed},
		{kgo.ErrRecordTimeout, driver.ErrTimeout},
		{kerr.SaslAuthenticationFailed, driver.ErrUnauthorized},
		{fmt.Errorf("x: %w", kerr.TopicAuthorizationFailed), driver.ErrUnauthorized},
		{kerr.UnknownTopicOrPartition, driver.ErrNoTopic},
		{kerr.MessageTooLarge, driver.ErrTooLarge},
		{kerr.ThrottlingQuotaExceeded, driver.ErrThrottled},
		{kerr.PolicyViolation, driver.ErrRejected},
		{kerr.NotEnoughReplicas, driver.ErrRejected},
		{kerr.NotEnoughReplicasAfterAppend, driver.ErrTimeout},
		{kerr.UnsupportedVersion, driver.ErrUnsupported},
		{context.DeadlineExceeded, driver.ErrTimeout},
		{context.Canceled, driver.ErrClosed},
		{os.ErrDeadlineExceeded, driver.ErrTimeout},
		{syscall.ECONNREFUSED, driver.ErrNotConnected},
		{net.ErrClosed, driver.ErrNotConnected},
		{io.EOF, driver.ErrNotConnected},
		{fmt.Errorf("%w: %w", driver.ErrThrottled, io.EOF), driver.ErrThrottled},
	} {
		wrapped := wrap(test.err, "send to %q", "x")
		if got := driver.Class(wrapped); got != test.class {
			t.Errorf("%v: class %v, want %v", test.err, got, test.class)
		}
		if !errors.Is(wrapped, test.err) {
			t.Errorf("%v: the cause is lost", wrapped)
		}
	}
}

// TestWhatNobodyKnows: records that may have arrived are not refused.
func TestWhatNobodyKnows(t *testing.T) {
	for err, class := range map[error]error{
		io.EOF: driver.ErrTimeout, kgo.ErrClientClosed: driver.ErrTimeout, kgo.ErrRecordRetries: driver.ErrTimeout,
		kerr.MessageTooLarge: driver.ErrTooLarge, kerr.InvalidRecord: driver.ErrRejected,
	} {
		if got := driver.Class(undelivered(err, "t0")); got != class {
			t.Errorf("%v: class %v, want %v", err, got, class)
		}
	}
}
