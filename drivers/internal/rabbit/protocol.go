// Package rabbit is what the drivers of RabbitMQ's protocols share beside the
// protocols themselves: where the broker is and who logs in, connections that
// are made again when they are lost, one to administer with, what stands
// between a connection and a consumer, and what becomes of errors.
package rabbit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Protocol is one that the broker speaks, as seen by its driver.
type Protocol struct {
	Driver    string // its name, with which errors begin
	Plain     Scheme // of URLs
	Encrypted Scheme
	// Foreign is wrapped by errors that say that a server speaks something else,
	// and IfForeign is what that, or a server that hangs up, most likely comes
	// from where there is no TLS.
	Foreign   error
	IfForeign string
	// Class returns the class of an error that only the protocol's client knows,
	// nil for others.
	Class func(err error) error
	// Passes reports of an error that only the protocol's client knows whether it
	// goes away by itself: a queue or stream has no leader yet, a virtual host
	// is not up.
	Passes func(err error) bool
}

// Scheme is one of a protocol's URLs, with the port that it stands for.
type Scheme struct{ Name, Port string }

// ClassOf returns the class of an error of a connection, never nil.
func (p *Protocol) ClassOf(err error) error {
	if c := driver.Class(err); c != nil {
		return c
	}
	if c := p.Class(err); c != nil {
		return c
	}
	switch {
	case errors.Is(err, context.Canceled):
		return driver.ErrClosed
	case errors.Is(err, context.DeadlineExceeded):
		return driver.ErrTimeout
	}
	// What remains is the socket's.
	return driver.ErrNotConnected
}

// await repeats what a broker cannot do yet.
func (p *Protocol) await(ctx context.Context, what string, passes func(error) bool, attempt func() error) error {
	return kit.Await(ctx, p.Driver+": "+what, passes, attempt)
}

// isLoss reports whether err is the connection's end, and nobody's answer.
func (p *Protocol) isLoss(err error) bool {
	return err != nil && p.Class(err) == nil && p.ClassOf(err) == driver.ErrNotConnected
}

// Wrap adds what was being done, and the class, to an error of a connection.
func (p *Protocol) Wrap(err error, format string, args ...any) error {
	if driver.Class(err) != nil {
		return fmt.Errorf("%s: %s: %w", p.Driver, fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("%s: %s: %w: %w", p.Driver, fmt.Sprintf(format, args...), p.ClassOf(err), err)
}

// OptionError says what is wrong with an option.
func (p *Protocol) OptionError(name, why string) error {
	return fmt.Errorf("%s: %w", p.Driver, &driver.OptionError{Option: name, Cause: why})
}

// overError says that the session has closed.
func (p *Protocol) overError() error {
	return fmt.Errorf("%s: connect: session %w", p.Driver, driver.ErrClosed)
}

// Grace limits an orderly end to two seconds, and to most of the time there is,
// so that some is left for one that is not.
func Grace(ctx context.Context) (context.Context, context.CancelFunc) {
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(deadline)*3/4)
	}
	return context.WithTimeout(ctx, grace)
}
