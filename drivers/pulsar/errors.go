package pulsar

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/pulsar-client-go/pulsar"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: "pulsar", Class: classOf} }

// classOf returns the class of an error of the client. It gives most of the broker's
// errors, and of those of its connections, as text only.
func classOf(err error) error {
	if e := new(pulsar.Error); errors.As(err, &e) {
		switch e.Result() {
		case pulsar.TimeoutError:
			return driver.ErrTimeout
		case pulsar.ProducerQueueIsFull:
			return driver.ErrThrottled
		case pulsar.MessageTooBig, pulsar.InvalidMessage: // the latter by its metadata
			return driver.ErrTooLarge
		case pulsar.ProducerClosed, pulsar.ConsumerClosed:
			return driver.ErrClosed
		case pulsar.TopicNotFound:
			return driver.ErrNoTopic
		}
	}
	for _, known := range []struct {
		text  string
		class error
	}{
		{"AuthenticationError", driver.ErrUnauthorized},
		{"AuthorizationError", driver.ErrForbidden},
		{"TopicNotFound", driver.ErrNoTopic},
		{"exceeds MaxMessageSize", driver.ErrTooLarge},
		{"TooManyRequests", driver.ErrThrottled},
		{"QuotaExceeded", driver.ErrThrottled},
		{"ServiceNotReady", driver.ErrNotConnected},
		{connectionError, driver.ErrNotConnected},
		{"connection closed", driver.ErrNotConnected},
		{"request timed out", driver.ErrTimeout},
	} {
		if strings.Contains(err.Error(), known.text) {
			return known.class
		}
	}
	return driver.ErrRejected
}

// connectionError is all that the client says where a connection cannot be made.
const connectionError = "connection error"

// outcome is the error of a message that was handed to the client. Whether the
// broker has a message that was under way when its producer ended, nobody knows.
func (s *session) outcome(err error, topic string) error {
	for _, ended := range []error{pulsar.ErrTopicNotfound, pulsar.ErrTopicTerminated, pulsar.ErrProducerFenced, pulsar.ErrProducerBlockedQuotaExceeded} {
		if errors.Is(err, ended) {
			return fmt.Errorf("pulsar: send to %q: %w: it had no receipt when the producer ended: %w", topic, driver.ErrTimeout, ended)
		}
	}
	return s.Wrap(err, "send to %q", topic)
}

// unreachable says why there is no connection, and what that most likely comes from.
func (s *session) unreachable(err error) error {
	hint := kit.Hint(s.Servers[0], kit.Connecting{Hint: "if the broker wants TLS at this port, give a pulsar+ssl:// URL"}, err)
	return fmt.Errorf("%w: %w%s", driver.ErrNotConnected, err, hint)
}
