package kit

import (
	"context"
	"errors"
	"fmt"
	"net"

	"sixnines/driver"
)

// Errors makes the errors of a driver: its name, what was being done and to whom,
// and the class. It is safe for concurrent use.
type Errors struct {
	Driver string // its name, with which errors begin
	// Class returns the class of an error that only the client or the protocol knows,
	// nil for others. Nil: no classes.
	Class func(err error) error
}

// ClassOf returns the class of err, never nil. An unknown error is taken for the socket's:
// driver.ErrNotConnected.
func (e *Errors) ClassOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	if e.Class != nil {
		if c := e.Class(err); c != nil {
			return c
		}
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return driver.ErrClosed
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return driver.ErrTimeout
	}
	return driver.ErrNotConnected
}

// Wrap adds the driver, what was being done and, where err wraps none, its class. It
// returns nil for nil.
func (e *Errors) Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if driver.Class(err) != nil {
		return fmt.Errorf("%s: %s: %w", e.Driver, what, err)
	}
	return fmt.Errorf("%s: %s: %w: %w", e.Driver, what, e.ClassOf(err), err)
}

// New makes an error of the class that says what was being done and why not.
func (e *Errors) New(class error, doing, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w: %s", e.Driver, doing, class, fmt.Sprintf(format, args...))
}

// Option says what is wrong with an option.
func (e *Errors) Option(name, cause string) error {
	return fmt.Errorf("%s: %w", e.Driver, &driver.OptionError{Option: name, Cause: cause})
}

// over says that the session has closed.
func (e *Errors) over(doing string) error {
	return fmt.Errorf("%s: %s: session %w", e.Driver, doing, driver.ErrClosed)
}
