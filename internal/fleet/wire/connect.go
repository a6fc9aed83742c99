package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrRefused is wrapped by the errors of [Connect] about a server that lets nobody in with this login, or that
// is not the one that it should be. Trying again is of no use.
var ErrRefused = errors.New("refused")

// Conn is a connection to the control plane.
type Conn = nats.Conn

// Why says what about a login an error of [Connect] is.
func Why(err error) Problem {
	is := func(of ...error) bool {
		return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case is(ErrExpired, nats.ErrAuthExpired):
		return Expired
	case is(ErrLogin):
		return Unusable
	case is(nats.ErrAuthorization, nats.ErrAuthRevoked, nats.ErrNkeysNotSupported):
		return Unknown
	case is(ErrRefused):
		return Untrusted
	}
	return Other
}

// Problem is what is wrong with a login.
type Problem int

// The problems.
const (
	Other     Problem = iota // nothing of the login
	Unusable                 // it contradicts itself, or its files cannot be read
	Expired                  // it was valid once
	Unknown                  // the server does not let it in
	Untrusted                // the server is not the one that it should be, or speaks another protocol
)

// connectPatience is how long one server may take to let a client in.
const connectPatience = 5 * time.Second

// greetingPatience is connectPatience with a server that may be one that says nothing before the TLS handshake.
const greetingPatience = 2 * time.Second

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
	// A server that begins with TLS says nothing to a client that waits for its greeting first, so both are tried in turn.
	unknown, first := l.Pin == "" && l.secured(), false
	for {
		patience := connectPatience
		if unknown && !first {
			patience = greetingPatience
		}
		if end, ok := ctx.Deadline(); ok {
			patience = max(time.Millisecond, min(patience, time.Until(end)))
		}
		now := append(options, nats.Timeout(patience))
		if first {
			now = append(now, nats.TLSHandshakeFirst())
		}
		c, err := nats.Connect(l.URL, now...)
		if err == nil {
			return c, nil
		}
		if final(err) && !(first && errors.As(err, new(tls.RecordHeaderError))) {
			return nil, fmt.Errorf("%s: %w: %w", l.Shown(), ErrRefused, err)
		}
		first = unknown && !first && isTimeout(err)
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

// isTimeout reports whether a server was reached, or may have been, and said nothing.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, nats.ErrTimeout) || errors.As(err, &timeout) && timeout.Timeout()
}

// secured reports whether the connection is encrypted.
func (l *Login) secured() bool {
	all, err := l.servers()
	return err == nil && l.encrypted(all[0])
}
