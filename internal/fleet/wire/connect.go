package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrRefused is wrapped by the errors of [Connect] about a server that lets nobody in with this login, or that
// is not the one that it should be. Trying again is of no use.
var ErrRefused = errors.New("refused")

// connectPatience is how long one server may take to let a client in.
const connectPatience = 5 * time.Second

// Connect connects to the control plane. While no server answers it tries again, until ctx ends, and waiting is
// called, if it is not nil, with the first such error. The caller closes the connection. It connects again by
// itself when it is lost, except where the server refuses it: then lost is called, if not nil, with the error.
func Connect(ctx context.Context, l Login, waiting, lost func(error)) (*nats.Conn, error) {
	options, err := l.options()
	if err != nil {
		return nil, err
	}
	options = append(options, nats.ClosedHandler(func(c *nats.Conn) {
		if err := c.LastError(); err != nil && lost != nil {
			lost(fmt.Errorf("the connection to %s is over: %w", l.Shown(), err))
		}
	}))
	for {
		patience := connectPatience
		if end, ok := ctx.Deadline(); ok {
			patience = max(time.Millisecond, min(patience, time.Until(end)))
		}
		c, err := nats.Connect(l.URL, append(options, nats.Timeout(patience))...)
		if err == nil {
			return c, nil
		}
		if final(err) {
			return nil, fmt.Errorf("%s: %w: %w", l.Shown(), ErrRefused, err)
		}
		err = fmt.Errorf("%s does not answer: %w", l.Shown(), err)
		if waiting != nil {
			waiting(err)
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// final reports whether an error of connecting stays the same however often it is tried.
func final(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	for _, known := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrSecureConnWanted,
		nats.ErrSecureConnRequired, nats.ErrNkeysNotSupported, errPin} {
		if errors.Is(err, known) {
			return true
		}
	}
	return errors.As(err, &certificate) || errors.As(err, &record)
}
