// Package null is the driver for Sixnines' own null broker, see package
// nullbroker: for the noise floor of a machine, and for trials of the tool
// itself.
//
// Messages are written on the sender's thread and handed over on the goroutine
// that reads; nothing else stands between the engine and the sockets. Flat out
// they are collected into larger writes. With the option ack=broker the broker
// confirms each message when it has handed it on; without, Done is called inside
// Send and says that the payload's buffer is free again. What is sent while a
// connection is down fails with ErrNotConnected; a message whose confirmation was lost
// with its connection is done with ErrTimeout, since its outcome is unknown.
//
// Topic t of run r is called s9.r.t. It exists while somebody names it, so
// there is nothing to provision and nothing to remove.
package null

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/nullbroker"
)

// scheme begins the broker's URLs.
const scheme = "null"

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "null",
		Summary:    "Sixnines' own null broker, which does nothing, or delays and queues messages as asked: for the floor and for trials of the tool itself",
		DefaultURL: scheme + "://127.0.0.1:6999",
		Schemes:    []string{scheme},
		Capabilities: driver.Capabilities{
			Ack:          driver.AckKindNone,
			RequestReply: true,
			Groups:       true,
			FanOut:       true,
			Reconnects:   true,
			Ordered:      true,
		},
		Naming:  naming(),
		Options: &options,
		Driver:  driver.New(options, newSession, (*session).reach),
	}
}

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Ack            string          `option:"ack" enum:"none,broker" doc:"broker: the broker confirms each message when it has handed it on; none: it does not"`
	WriteBuffer    driver.ByteSize `option:"write_buffer" min:"0" max:"64MiB" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out"`
	ConnectTimeout time.Duration   `option:"connect_timeout" min:"1ms" doc:"longest time for the broker to accept a connection and to answer"`
	ReconnectWait  time.Duration   `option:"reconnect_wait" min:"1ms" doc:"pause between attempts to reconnect"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Ack: string(driver.AckKindNone), ConnectTimeout: 5 * time.Second, ReconnectWait: 20 * time.Millisecond}
}

// confirms reports whether the broker acknowledges messages.
func (o *Options) confirms() bool { return o.Ack == string(driver.AckKindBroker) }

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) { c.Ack = driver.AckKind(o.Ack) }

func newSession(t driver.Target, o Options) (*session, error) {
	if t.TLS != nil {
		return nil, fmt.Errorf("null: tls: %w: the null broker does not encrypt", driver.ErrUnsupported)
	}
	address, ok := strings.CutPrefix(t.URL, scheme+"://")
	if _, _, err := net.SplitHostPort(address); !ok || err != nil {
		return nil, fmt.Errorf("null: URL %q: %w: want null://HOST:PORT", t.URL, driver.ErrOption)
	}
	s := &session{target: t, address: address, options: o, links: map[linkKey]*link{}}
	if s.target.Dial == nil {
		s.target.Dial = new(net.Dialer).DialContext
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// reach asks the broker once what it is.
func (s *session) reach(ctx context.Context) error {
	conn, welcome, err := s.connect(ctx)
	if err != nil {
		return err
	}
	s.welcome = welcome
	return conn.Close()
}

// connect makes a connection and introduces the client.
func (s *session) connect(ctx context.Context) (net.Conn, nullbroker.Welcome, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	fail := func(err error) (net.Conn, nullbroker.Welcome, error) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if limited.Err() != nil {
			err = fmt.Errorf("no answer in %v; is a null broker there?", s.options.ConnectTimeout)
		} else if errors.Is(err, nullbroker.ErrProtocol) {
			err = fmt.Errorf("%w; is a null broker there?", err)
		}
		return nil, nullbroker.Welcome{}, fmt.Errorf("null: connect to %s: %w: %w", s.address, driver.ErrNotConnected, err)
	}
	conn, err := s.target.Dial(limited, "tcp", s.address)
	if err != nil {
		return fail(err)
	}
	stop := context.AfterFunc(limited, func() { conn.Close() })
	welcome, err := nullbroker.Greet(conn)
	if !stop() && err == nil {
		err = context.Cause(limited)
	}
	if err != nil {
		conn.Close()
		return fail(err)
	}
	driver.LoggedIn(ctx)
	return conn, welcome, nil
}
