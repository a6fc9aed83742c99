//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
)

// Driver opens sessions. Sockets of one run meet in its directory.
type Driver struct {
	pipeline  bool
	directory *mesh.Directory
	greetings *atomic.Int64
}

func newDriver(pipeline bool) driver.Driver {
	return &Driver{pipeline: pipeline, directory: &mesh.Directory{}, greetings: &atomic.Int64{}}
}

// session implements driver.Session, driver.RequestReplier and
// driver.ServerInfo.
type session struct {
	driver  *Driver
	options Options
	batch   bool
	room    *mesh.Room
	library *library
	notify  func(driver.Event)
	life    context.Context // ends when the session closes
	cancel  context.CancelFunc
	links   *kit.Pool[mesh.Line, *link]

	mu        sync.Mutex
	closed    bool
	receivers map[*receiver]struct{}
}

// The high-water marks of a flat-out load: enough that a sender's pause does not
// drain a queue, but no more memory for each than this.
const (
	automatic       = 10000
	automaticMemory = 64 << 20
)

// marks returns the high-water marks in effect. They count messages.
func (s *session) marks() hwms {
	h := hwms{send: s.options.SendHWM, receive: s.options.ReceiveHWM}
	for _, mark := range []*int{&h.send, &h.receive} {
		switch {
		case *mark >= 0:
		case s.batch:
			*mark = max(16, min(automatic, automaticMemory/int(max(1, s.library.largest.Load()))))
		default:
			*mark = 0
		}
	}
	return h
}

// Open implements driver.Driver. There is no broker to reach: it checks that
// sockets can bind at the address.
func (d *Driver) Open(_ context.Context, t driver.Target) (driver.Session, error) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	a, err := mesh.Parse(t.URL, "tcp", "ipc", "inproc")
	if err != nil {
		return nil, fmt.Errorf("zeromq: %w", err)
	}
	if t.TLS != nil {
		return nil, fmt.Errorf("zeromq: %w: ZeroMQ has no TLS; the option security=curve encrypts", driver.ErrUnsupported)
	}
	if o.Security == "curve" && a.Scheme == "inproc" {
		return nil, fmt.Errorf("zeromq: option \"security\": %w: sockets of inproc share memory, which has no CURVE", driver.ErrOption)
	}
	s := &session{driver: d, options: o, batch: t.Batch, notify: t.Notify, receivers: map[*receiver]struct{}{}}
	s.links = kit.NewPool("zeromq", s.link, func(_ context.Context, l *link) { l.close() })
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	s.room, err = d.directory.Enter(t.Run, a, func(r *mesh.Room) error {
		l, err := newLibrary(o.IOThreads, o.Security == "curve")
		if err != nil {
			return fmt.Errorf("%w: %w", driver.ErrUnsupported, err)
		}
		r.Shared = l
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("zeromq: %w", err)
	}
	s.library = s.room.Shared.(*library)
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// checkTopic refuses names that a subscription could not tell from others.
func checkTopic(topic string) error {
	if topic == "" || strings.IndexByte(topic, 0) >= 0 || strings.IndexByte(topic, hello[0]) >= 0 {
		return fmt.Errorf("zeromq: topic %q: %w: names are not empty and have no bytes 0 and 255", topic, driver.ErrUnsupported)
	}
	return nil
}

// Provision implements driver.Session. Topics need no making.
func (s *session) Provision(_ context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := checkTopic(topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	if s.driver.pipeline {
		if err := mesh.CheckPushed(t, "zeromq"); err != nil {
			return driver.Semantics{}, fmt.Errorf("zeromq: %w", err)
		}
	}
	// The room's other sessions are not told of it.
	s.library.largest.Store(int64(t.MaxSize))
	return s.semantics(t), nil
}

// Deprovision implements driver.Session. There is nothing that could be left.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	receivers := s.receivers
	s.receivers = map[*receiver]struct{}{}
	s.mu.Unlock()
	s.cancel()
	s.links.Close(ctx)
	for r := range receivers {
		r.shut()
	}
	var err error
	for r := range receivers {
		if wait := r.wait(ctx); err == nil {
			err = wait
		}
	}
	s.room.Leave(func() {
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
			err = fmt.Errorf("zeromq: close: %w: sockets still linger: %w", driver.ErrTimeout, context.Cause(ctx))
		}
	})
	return err
}

func (s *session) errClosed(what string) error {
	return fmt.Errorf("zeromq: %s: session %w", what, driver.ErrClosed)
}

// binds reports whether sockets of the kind bind.
func (s *session) binds(k kind) bool {
	switch s.options.Bind {
	case "producers":
		return k.sends()
	case "consumers":
		return !k.sends()
	}
	return k == publishes || k == pushes || k == responds
}

// open makes a socket and a member of the room of it. prepare is called before
// anything is connected.
func (s *session) open(k kind, keys []string, prepare func(*socket) error) (*socket, *mesh.Member, []*mesh.Member, error) {
	a := s.room.Address()
	sock, err := newSocket(s.library, k, &s.options, s.marks(), a.IPv6())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("zeromq: %w", err)
	}
	if prepare != nil {
		err = prepare(sock)
	}
	var m *mesh.Member
	var others []*mesh.Member
	if err == nil {
		if m, others, err = s.room.Add(sock, s.binds(k), keys...); err != nil && driver.Class(err) == nil {
			err = a.BindError(err)
		}
	}
	if err != nil {
		sock.close()
		return nil, nil, nil, fmt.Errorf("zeromq: socket %s: %w", k, err)
	}
	return sock, m, others, nil
}

// settle waits until the sender has reached the peer, unless one of them closes.
func (s *session) settle(ctx context.Context, sender, peer *socket) error {
	return kit.Await(ctx, fmt.Sprintf("zeromq: connect a socket %s", sender.kind), func(err error) bool { return errors.Is(err, errUnheard) }, func() error {
		ok, err := sender.reached(peer)
		switch {
		case ok || errors.Is(err, driver.ErrClosed) || peer.gone():
			return nil
		case err != nil:
			return fmt.Errorf("zeromq: connect a socket %s: %w: %w", sender.kind, driver.ErrNotConnected, err)
		case s.life.Err() != nil:
			return s.errClosed("connect")
		}
		return errUnheard
	})
}

// errUnheard says that a socket has not heard of its peer yet.
var errUnheard = errors.New("its peer has not been heard of")

// keep enters r among those that Close closes, unless it has been called.
func (s *session) keep(r *receiver) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.receivers[r] = struct{}{}
	}
	return !s.closed
}

func (s *session) forget(r *receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.receivers, r)
}
