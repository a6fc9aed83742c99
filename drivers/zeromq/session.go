//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
)

// network makes sessions. Sockets of one run meet in its directory.
type network struct {
	pipeline  bool
	directory *mesh.Directory
	greetings *atomic.Int64
}

func newDriver(pipeline bool) driver.Driver {
	d := &network{pipeline: pipeline, directory: &mesh.Directory{}, greetings: &atomic.Int64{}}
	return driver.New(DefaultOptions(), d.newSession, nil)
}

// session implements driver.Session and driver.RequestReplier.
type session struct {
	*mesh.Session[*link, *receiver]
	options   Options
	library   *library
	greetings *atomic.Int64
}

// marks returns the high-water marks in effect. They count messages.
func (s *session) marks() hwms {
	h := hwms{send: s.options.SendHWM, receive: s.options.ReceiveHWM}
	for _, mark := range []*int{&h.send, &h.receive} {
		if *mark < 0 {
			*mark = s.Limit()
		}
	}
	return h
}

// newSession checks that sockets can bind at the address. There is no broker to reach.
func (d *network) newSession(t driver.Target, o Options) (*session, error) {
	a, err := mesh.Parse(t.URL, schemes()...)
	if err != nil {
		return nil, fmt.Errorf("zeromq: %w", err)
	}
	if t.TLS != nil {
		return nil, fmt.Errorf("zeromq: %w: ZeroMQ has no TLS; the option security=curve encrypts", driver.ErrUnsupported)
	}
	if o.Security == "curve" && a.Scheme == "inproc" {
		return nil, fmt.Errorf("zeromq: option \"security\": %w: sockets of inproc share memory, which has no CURVE", driver.ErrOption)
	}
	s := &session{options: o, greetings: d.greetings}
	s.Session, err = mesh.NewSession(d.directory, t, a, mesh.Config[*link, *receiver]{
		Driver: "zeromq", Pipeline: d.pipeline, Bind: o.Bind, Unfit: "\x00" + hello,
		OpenSender: s.link, CloseSender: (*link).close, Receive: s.receive, Describe: s.describe,
	}, func(r *mesh.Room) error {
		l, err := newLibrary(o.IOThreads, o.Security == "curve")
		if err != nil {
			return fmt.Errorf("%w: %w", driver.ErrUnsupported, err)
		}
		r.Shared = l
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.library = s.Room.Shared.(*library)
	return s, nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	var lingers error
	err := s.Disband(ctx, func() {
		gone := make(chan struct{})
		go func() {
			// It takes as long as the longest linger, or a Deliver that has not
			// returned.
			s.library.terminate()
			close(gone)
		}()
		select {
		case <-gone:
		case <-ctx.Done():
			lingers = fmt.Errorf("zeromq: close: %w: sockets still linger: %w", driver.ErrTimeout, context.Cause(ctx))
		}
	})
	return errors.Join(err, lingers)
}

// open makes a socket and a member of the room of it. prepare is called before
// anything is connected.
func (s *session) open(r mesh.Role, keys []string, prepare func(*socket) error) (*socket, *mesh.Member, []*mesh.Member, error) {
	sock, err := newSocket(s.library, r, &s.options, s.marks(), s.Room.Address().IPv6())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("zeromq: %w", err)
	}
	if prepare != nil {
		err = prepare(sock)
	}
	var m *mesh.Member
	var others []*mesh.Member
	if err == nil {
		m, others, err = s.Room.Add(sock, r.Binds(s.Bind), keys...)
	}
	if err != nil {
		sock.close()
		return nil, nil, nil, fmt.Errorf("zeromq: socket %s: %w", kindOf(r), err)
	}
	return sock, m, others, nil
}

// settle waits until the sender has reached the peer, unless one of them closes.
func (s *session) settle(ctx context.Context, sender, peer *socket) error {
	what := "connect a socket " + kindOf(sender.role)
	return kit.Await(ctx, "zeromq: "+what, func(err error) bool { return errors.Is(err, errUnheard) }, func() error {
		ok, err := sender.reached(peer)
		switch {
		case ok || errors.Is(err, driver.ErrClosed) || peer.gone():
			return nil
		case err != nil:
			return fmt.Errorf("zeromq: %s: %w: %w", what, driver.ErrNotConnected, err)
		case s.Closed():
			return s.Wrap(driver.ErrClosed, "%s", what)
		}
		return errUnheard
	})
}

// errUnheard says that a socket has not heard of its peer yet.
var errUnheard = errors.New("its peer has not been heard of")
