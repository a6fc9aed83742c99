package nsq

import (
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// refusal is what nsqd says in an error frame, such as "E_BAD_TOPIC SUB topic
// name "a b" is not valid".
type refusal string

// Error implements error.
func (r refusal) Error() string {
	if strings.Contains(string(r), "TLS required") {
		return string(r) + "; use the scheme nsq+tls"
	}
	return string(r)
}

// Unwrap returns the class.
func (r refusal) Unwrap() error {
	text := string(r)
	switch code, _, _ := strings.Cut(text, " "); {
	case strings.Contains(text, "too big"):
		return driver.ErrTooLarge
	case strings.Contains(text, "TLS required"):
		return driver.ErrNotConnected
	case strings.HasPrefix(code, "E_AUTH"):
		return driver.ErrUnauthorized
	case code == "E_UNAUTHORIZED":
		return driver.ErrForbidden
	case code == "E_BAD_TOPIC", code == "E_BAD_CHANNEL":
		return driver.ErrNoTopic
	}
	return driver.ErrRejected
}

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: "nsq", Class: known} }

// known returns the class of an error of go-nsq's, which has no types for these; nil for
// others.
func known(err error) error {
	if text := err.Error(); strings.Contains(text, libraryRefused) || strings.Contains(text, "Auth Required") {
		return driver.ErrUnauthorized
	}
	return nil
}

// libraryRefused begins go-nsq's error of a login that nsqd refuses, whose words follow.
const libraryRefused = "Error authenticating "

// wrap adds what was being done, and the class where err has none.
func wrap(err error, format string, args ...any) error {
	return failures().Wrap(err, format, args...)
}
