package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
)

// classOf returns the class of an error of the client.
func classOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	for _, c := range []struct{ err, class error }{
		{kgo.ErrClientClosed, driver.ErrClosed},
		{kgo.ErrAborting, driver.ErrClosed},
		{kgo.ErrRecordTimeout, driver.ErrTimeout},
		{kgo.ErrRecordRetries, driver.ErrTimeout},
		{kerr.SaslAuthenticationFailed, driver.ErrUnauthorized},
		{kerr.UnsupportedSaslMechanism, driver.ErrUnauthorized},
		{kerr.IllegalSaslState, driver.ErrUnauthorized},
		{kerr.SecurityDisabled, driver.ErrUnsupported},
		{kerr.TopicAuthorizationFailed, driver.ErrUnauthorized},
		{kerr.GroupAuthorizationFailed, driver.ErrUnauthorized},
		{kerr.ClusterAuthorizationFailed, driver.ErrUnauthorized},
		{kerr.TransactionalIDAuthorizationFailed, driver.ErrUnauthorized},
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
		{context.DeadlineExceeded, driver.ErrTimeout},
		{context.Canceled, driver.ErrClosed},
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
	var network net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return driver.ErrTimeout
	}
	return driver.ErrNotConnected
}

// hint says in a line what a person could do about an error of connecting.
func hint(err error, encrypted bool) string {
	var early *kgo.ErrFirstReadEOF
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	text := err.Error()
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "; check user, password and the option sasl"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "; the broker has no such mechanism here: try another value of the option sasl"
	case errors.Is(err, kerr.IllegalSaslState):
		return "; the broker asks for no login at this port: leave user and password away"
	case errors.As(err, &record):
		return "; the broker does not speak TLS at this port"
	case errors.As(err, &unknown):
		return "; name the authority that signed the broker's certificate with tls.ca"
	case errors.As(err, &name):
		return "; the broker's certificate is for another name: set tls.server_name"
	case strings.Contains(text, "certificate required") || strings.Contains(text, "bad certificate"):
		return "; the broker wants a client certificate: set tls.cert and tls.key"
	case errors.As(err, &early) && strings.Contains(text, "is SASL missing"):
		return "; the broker seems to want a login: set user and password"
	case strings.Contains(text, "invalid large response size") || errors.As(err, &early) && !encrypted:
		return "; the broker may want TLS or a login at this port; if it is older than 0.10, set the option version"
	}
	return ""
}

// wrap adds what was being done, and the class, to an error of the client.
func wrap(err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("kafka: %s: %w", fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("kafka: %s: %w: %w", fmt.Sprintf(format, args...), classOf(err), err)
}

// undelivered is wrap for a record that the client has given up. Whether a
// record arrived whose connection was lost or closed, nobody knows.
func undelivered(err error, topic string) error {
	switch classOf(err) {
	case driver.ErrClosed:
		return fmt.Errorf("kafka: send to %q: %w: %w: %w", topic, driver.ErrTimeout, driver.ErrClosed, err)
	case driver.ErrNotConnected:
		return fmt.Errorf("kafka: send to %q: %w: %w", topic, driver.ErrTimeout, err)
	}
	return wrap(err, "send to %q", topic)
}
