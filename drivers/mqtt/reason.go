package mqtt

import (
	"cmp"
	"errors"
	"fmt"
	"time"

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

// outcome is what a message is resolved with by an acknowledgement that says so.
func (r reason) outcome() error {
	if r.failed() {
		return r
	}
	return nil
}

// Unwrap returns the class.
func (r reason) Unwrap() error {
	switch r {
	case 0x87:
		return driver.ErrForbidden
	case 0x86, 0x8A, 0x8C:
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

// errGaveUp is when a server hangs up without an answer to the login after it has tried
// for some time. A NATS server does that where it takes more than four seconds to make
// its streams, which it does at the first login.
var errGaveUp = errors.New("the server hung up without an answer")

// tried is how long a server tries at least. One that does not understand a login hangs
// up at once.
const tried = time.Second

// passes reports whether an error goes away by itself: the server is unavailable or
// busy, or has had too many connections in a second.
func passes(err error) bool {
	if errors.Is(err, errGaveUp) {
		return true
	}
	var r reason
	return errors.As(err, &r) && (r == 0x88 || r == 0x89 || r == 0x9F)
}

func (r reason) words() string {
	words := [...]string{
		0x80: "the broker gives no reason",
		0x81: "malformed packet",
		0x82: "protocol error",
		0x83: "the broker does not accept it",
		0x84: "the broker does not speak this version of MQTT; try version=3.1.1",
		0x85: "the broker does not allow this client identifier",
		0x86: "wrong user name or password",
		0x87: "the broker's permissions do not allow it",
		0x88: "the server is unavailable",
		0x89: "the server is busy",
		0x8A: "the client is banned",
		0x8B: "the server is shutting down",
		0x8C: "the broker does not know this way to log in",
		0x8D: "the broker has heard nothing for longer than keep_alive",
		0x8E: "another client has the same client identifier",
		0x8F: "the broker does not accept the topic filter",
		0x90: "the broker does not accept the topic name",
		0x93: "more messages in flight than the broker allows",
		0x94: "topic alias invalid",
		0x95: "larger than the broker allows",
		0x96: "more messages a second than the broker allows",
		0x97: "a quota of the broker's is used up",
		0x98: "ended by the broker's administrator",
		0x99: "the broker does not accept the payload's format",
		0x9A: "the broker does not keep retained messages",
		0x9B: "the broker does not carry this quality of service",
		0x9C: "the broker wants another server to be used",
		0x9D: "the broker wants another server to be used",
		0x9E: "the broker has no shared subscriptions",
		0x9F: "more connections a second than the broker allows",
	}
	if int(r) < len(words) {
		return words[r]
	}
	return ""
}

// refusal is the error of a login that the broker has refused by a code of either
// version.
func refusal(code byte, text string) error {
	why := reason(code)
	if old := [...]reason{0, 0x84, 0x85, 0x88, 0x86, 0x87}; int(code) < len(old) { // of MQTT 3.1.1
		why = old[code]
	}
	if why == 0x87 { // what Mosquitto says of a wrong password
		why, text = 0x86, cmp.Or(text, "not authorised to connect")
	}
	if text != "" {
		return fmt.Errorf("%w: %s (%w)", why.Unwrap(), text, why)
	}
	return fmt.Errorf("%w: %w", why.Unwrap(), why)
}

// disconnection is the error of a connection that the broker has ended by a code.
func disconnection(code byte) error {
	return fmt.Errorf("the broker ends the connection: %w", reason(code))
}

// disconnected is the error of a connection that the broker has ended by a DISCONNECT.
func disconnected(body []byte) error {
	if len(body) > 0 {
		return disconnection(body[0])
	}
	return errors.New("the broker ends the connection")
}
