package driver

import (
	"errors"
	"fmt"
)

// The classes of errors. A driver wraps the class with what was being done and
// to whom: fmt.Errorf("nats: subscribe to %q: %w", topic, driver.ErrNotConnected).
// The engine counts by class and the command line adds what to do next.
var (
	// ErrNotConnected: there is no connection, or it was lost.
	ErrNotConnected = errors.New("not connected")
	// ErrUnauthorized: the broker refused the credentials or the operation.
	ErrUnauthorized = errors.New("not authorised")
	// ErrForbidden: the login is right, and its account lacks a right. It is of class ErrUnauthorized.
	ErrForbidden = fmt.Errorf("%w: the account lacks a right", ErrUnauthorized)
	// ErrRejected: the broker refused the message (a negative acknowledgement).
	ErrRejected = errors.New("rejected by the broker")
	// ErrThrottled: the broker or client asked to slow down.
	ErrThrottled = errors.New("throttled")
	// ErrTooLarge: the message is larger than the broker allows.
	ErrTooLarge = errors.New("message too large")
	// ErrUnsupported: this broker or driver cannot do what was asked.
	ErrUnsupported = errors.New("unsupported")
	// ErrNoTopic: the topic does not exist.
	ErrNoTopic = errors.New("no such topic")
	// ErrOption: a driver option is unknown or has a wrong value.
	ErrOption = errors.New("wrong option")
	// ErrTimeout: no answer in time; the outcome is unknown.
	ErrTimeout = errors.New("timed out")
	// ErrClosed: the producer, consumer or session has been closed.
	ErrClosed = errors.New("closed")
)

// OptionError is what is wrong with one option; it wraps [ErrOption].
type OptionError struct {
	Option string // its name
	Cause  string // what is wrong with it, without its value if that is secret
}

// Error returns the option, the class and the cause.
func (e *OptionError) Error() string {
	return fmt.Sprintf("option %q: %v: %s", e.Option, ErrOption, e.Cause)
}

// Unwrap returns ErrOption.
func (e *OptionError) Unwrap() error { return ErrOption }

// AbsentError says that this build of the program lists a driver and does not have it; it wraps
// [ErrUnsupported].
type AbsentError struct {
	Driver string
	Lacks  string // what the build has not: "libzmq"
	Build  string // how to have a build with it, as an order
}

// Error returns the driver, the class, what is missing and what to do.
func (e *AbsentError) Error() string { return e.Why() + "; " + e.Build }

// Why returns the text of the error without what to do.
func (e *AbsentError) Why() string {
	return fmt.Sprintf("%s: %v: not in this build, which has no %s", e.Driver, ErrUnsupported, e.Lacks)
}

// Unwrap returns ErrUnsupported.
func (e *AbsentError) Unwrap() error { return ErrUnsupported }

// Classes lists all error classes, in the order in which they are reported.
func Classes() []error {
	return []error{ErrNotConnected, ErrUnauthorized, ErrRejected, ErrThrottled, ErrTooLarge,
		ErrUnsupported, ErrNoTopic, ErrOption, ErrTimeout, ErrClosed}
}

// Final reports whether the broker will refuse the same request again: the same message,
// by the same user, with the same options.
func Final(err error) bool {
	for _, class := range []error{ErrUnauthorized, ErrTooLarge, ErrUnsupported, ErrNoTopic, ErrOption} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// Class returns the class that err wraps, or nil if it wraps none.
func Class(err error) error {
	for _, c := range Classes() {
		if errors.Is(err, c) {
			return c
		}
	}
	return nil
}

// AdvertisedError says that a reachable broker redirects its clients to an address at which
// it cannot be reached; it wraps [ErrNotConnected] and the cause.
type AdvertisedError struct {
	Given   string // the address at which it was reached
	Address string // the address to which it redirects clients
	Setting string // the broker's setting with that address
	Cause   error
}

// Error returns both addresses, the setting and the cause.
func (e *AdvertisedError) Error() string {
	return fmt.Sprintf("%v: the broker answers at %s, and its %s sends clients to %s, which cannot be reached from here: %v", ErrNotConnected, e.Given, e.Setting, e.Address, e.Cause)
}

// Unwrap returns ErrNotConnected and the cause.
func (e *AdvertisedError) Unwrap() []error { return []error{ErrNotConnected, e.Cause} }

// HandshakeError says that a server was reached and TLS was not agreed on.
type HandshakeError struct{ Cause error }

// Error returns the cause.
func (e *HandshakeError) Error() string { return "tls: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Cause }

// LimitError says that the broker has a limit which is lower than what was asked for; it wraps the broker's answer.
type LimitError struct {
	Lower string // what to lower, as on the command line: "--option max_bytes"
	Cause error
}

// Error returns the broker's answer and what to lower.
func (e *LimitError) Error() string {
	return e.Cause.Error() + "; " + e.Lower + " is above a limit there"
}

// Unwrap returns the broker's answer.
func (e *LimitError) Unwrap() error { return e.Cause }
