package kafka

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: "kafka", Class: known} }

// classOf returns the class of an error of the client, which is never nil.
func classOf(err error) error { return failures().ClassOf(err) }

// wrap adds what was being done, and the class, to an error of the client.
func wrap(err error, format string, args ...any) error {
	return failures().Wrap(err, format, args...)
}

// known returns the class of an error that only the client knows, nil for others.
func known(err error) error {
	for _, c := range []struct{ err, class error }{
		{kgo.ErrClientClosed, driver.ErrClosed},
		{kgo.ErrAborting, driver.ErrClosed},
		{kgo.ErrRecordTimeout, driver.ErrTimeout},
		{kgo.ErrRecordRetries, driver.ErrTimeout},
		{kerr.SaslAuthenticationFailed, driver.ErrUnauthorized},
		{kerr.UnsupportedSaslMechanism, driver.ErrUnauthorized},
		{kerr.IllegalSaslState, driver.ErrUnauthorized},
		{kerr.SecurityDisabled, driver.ErrUnsupported},
		{kerr.TopicAuthorizationFailed, driver.ErrForbidden},
		{kerr.GroupAuthorizationFailed, driver.ErrForbidden},
		{kerr.ClusterAuthorizationFailed, driver.ErrForbidden},
		{kerr.TransactionalIDAuthorizationFailed, driver.ErrForbidden},
		{kerr.UnknownTopicOrPartition, driver.ErrNoTopic},
		{kerr.UnknownTopicID, driver.ErrNoTopic},
		{kerr.MessageTooLarge, driver.ErrTooLarge},
		{kerr.RecordListTooLarge, driver.ErrTooLarge},
		{kerr.ThrottlingQuotaExceeded, driver.ErrThrottled},
		{kerr.UnsupportedVersion, driver.ErrUnsupported},
		{kerr.UnsupportedForMessageFormat, driver.ErrUnsupported},
		{kerr.UnsupportedCompressionType, driver.ErrUnsupported},
		{kerr.RequestTimedOut, driver.ErrTimeout},
		{kerr.NotEnoughReplicasAfterAppend, driver.ErrTimeout},
	} {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	var refused *kerr.Error
	if errors.As(err, &refused) {
		return driver.ErrRejected
	}
	text := err.Error()
	// The client has no names for these.
	if strings.Contains(text, "is SASL missing") || strings.Contains(text, "certificate required") ||
		strings.Contains(text, "bad certificate") {
		return driver.ErrUnauthorized
	}
	if strings.Contains(text, "broker is too old") || strings.Contains(text, "request key is unknown") {
		return driver.ErrUnsupported
	}
	return nil
}

// asyncError is the event of an error of the client that belongs to no message.
func asyncError(err error, format string, args ...any) driver.Event {
	err = wrap(err, format, args...)
	return driver.Event{Kind: driver.AsyncError, Detail: err.Error(), Err: err}
}

// hint says in a line what a person could do about an error of connecting.
func (s *session) hint(err error) string {
	var early *kgo.ErrFirstReadEOF
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "; check user, password and the option sasl"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "; the broker has no such mechanism here: try another value of the option sasl"
	case errors.Is(err, kerr.IllegalSaslState):
		return "; the broker asks for no login at this port: leave user and password away"
	case errors.As(err, &early) && strings.Contains(err.Error(), "is SASL missing"):
		return "; the broker seems to want a login: set user and password"
	case classOf(err) != driver.ErrNotConnected && !strings.Contains(err.Error(), "certificate"):
		return ""
	}
	return kit.Hint(s.Servers[0], kit.Connecting{Hint: "it may want TLS or a login at this port; if it is older than 0.10, set the option version"}, err)
}

// undelivered is wrap for a record that the client has given up. If the record's
// connection was lost or closed, it is not known whether the record arrived.
func undelivered(err error, topic string) error {
	switch classOf(err) {
	case driver.ErrClosed:
		return fmt.Errorf("kafka: send to %q: %w: %w: %w", topic, driver.ErrTimeout, driver.ErrClosed, err)
	case driver.ErrNotConnected:
		return fmt.Errorf("kafka: send to %q: %w: %w", topic, driver.ErrTimeout, err)
	}
	return wrap(err, "send to %q", topic)
}
