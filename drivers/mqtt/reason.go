package mqtt

import (
	"errors"
	"fmt"

	"sixnines/driver"
)

// reason is a reason code of MQTT 5. From 0x80 on it is an error, of a class of
// the contract.
type reason byte

func (r reason) failed() bool { return r >= 0x80 }

// Error implements error.
func (r reason) Error() string {
	if words := r.words(); words != "" {
		return words
	}
	return fmt.Sprintf("reason code %#x", byte(r))
}

// Unwrap returns the class.
func (r reason) Unwrap() error {
	switch r {
	case 0x86, 0x87, 0x8A, 0x8C:
		return driver.ErrUnauthorized
	case 0x88, 0x89, 0x8B, 0x8D, 0x8E, 0x98, 0x9C, 0x9D:
		return driver.ErrNotConnected
	case 0x93, 0x96, 0x97, 0x9F:
		return driver.ErrThrottled
	case 0x95:
		return driver.ErrTooLarge
	case 0x84, 0x9A, 0x9B, 0x9E, 0xA1, 0xA2:
		return driver.ErrUnsupported
	case 0x8F, 0x90:
		return driver.ErrNoTopic
	}
	return driver.ErrRejected
}

// passes reports whether an error goes away by itself: the server is unavailable or
// busy, or has had too many connections in a second.
func passes(err error) bool {
	var r reason
	return errors.As(err, &r) && (r == 0x88 || r == 0x89 || r == 0x9F)
}

func (r reason) words() string {
	switch r {
	case 0x80:
		return "the broker gives no reason"
	case 0x81:
		return "malformed packet"
	case 0x82:
		return "protocol error"
	case 0x83:
		return "the broker does not accept it"
	case 0x84:
		return "the broker does not speak this version of MQTT; try version=3.1.1"
	case 0x85:
		return "the broker does not allow this client identifier"
	case 0x86:
		return "wrong user name or password"
	case 0x87:
		return "the broker's permissions do not allow it"
	case 0x88:
		return "the server is unavailable"
	case 0x89:
		return "the server is busy"
	case 0x8A:
		return "the client is banned"
	case 0x8B:
		return "the server is shutting down"
	case 0x8C:
		return "the broker does not know this way to log in"
	case 0x8D:
		return "the broker has heard nothing for longer than keep_alive"
	case 0x8E:
		return "another client has the same client identifier"
	case 0x8F:
		return "the broker does not accept the topic filter"
	case 0x90:
		return "the broker does not accept the topic name"
	case 0x93:
		return "more messages in flight than the broker allows"
	case 0x94:
		return "topic alias invalid"
	case 0x95:
		return "larger than the broker allows"
	case 0x96:
		return "more messages a second than the broker allows"
	case 0x97:
		return "a quota of the broker's is used up"
	case 0x98:
		return "ended by the broker's administrator"
	case 0x99:
		return "the broker does not accept the payload's format"
	case 0x9A:
		return "the broker does not keep retained messages"
	case 0x9B:
		return "the broker does not carry this quality of service"
	case 0x9C, 0x9D:
		return "the broker wants another server to be used"
	case 0x9E:
		return "the broker has no shared subscriptions"
	case 0x9F:
		return "more connections a second than the broker allows"
	}
	return ""
}

// oldReason returns the reason code of MQTT 5 for a return code of MQTT 3.1.1's
// CONNACK.
func oldReason(code byte) reason {
	switch code {
	case 1:
		return 0x84
	case 2:
		return 0x85
	case 3:
		return 0x88
	case 4:
		return 0x86
	case 5:
		return 0x87
	}
	return reason(code)
}

// refusal is the error of a login that the broker has refused by a code of either
// version.
func refusal(code byte, text string) error {
	why := reason(code)
	if code < 0x80 {
		why = oldReason(code)
	}
	if text != "" {
		return fmt.Errorf("log in: %w: %s (%w)", why.Unwrap(), text, why)
	}
	return fmt.Errorf("log in: %w: %w", why.Unwrap(), why)
}

// disconnection is the error of a connection that the broker has ended by a code.
func disconnection(code byte) error {
	return fmt.Errorf("the broker ends the connection: %w", reason(code))
}
