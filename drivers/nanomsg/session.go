package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
)

// session implements driver.Session, driver.RequestReplier and
// driver.ServerInfo.
type session struct {
	driver  *Driver
	options Options
	secrets *secrets
	room    *mesh.Room
	batch   bool
	leave   sync.Once
	senders *kit.Pool[mesh.Line, *node]

	mu        sync.Mutex
	closed    bool
	joining   sync.WaitGroup // sockets that are being connected; Add under mu
	receivers map[*receiver]struct{}
}

// The limits of a backlog of a flat-out load, which has no others: messages, and
// memory.
const (
	automatic       = 10000
	automaticMemory = 64 << 20
)

// limit returns how many messages a backlog may hold; 0: any number.
func (s *session) limit() int {
	if !s.batch {
		return 0
	}
	largest := s.room.Shared.(*atomic.Int64).Load()
	return max(16, min(automatic, automaticMemory/int(max(1, largest))))
}

// Open implements driver.Driver. There is no broker to reach: it checks that
// sockets can bind at the address.
func (d *Driver) Open(_ context.Context, t driver.Target) (driver.Session, error) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	var schemes []string
	for _, known := range transports() {
		schemes = append(schemes, known.Scheme())
	}
	a, err := mesh.Parse(t.URL, schemes...)
	if err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	s := &session{driver: d, options: o, batch: t.Batch, receivers: map[*receiver]struct{}{}}
	s.senders = kit.NewPool("nanomsg", s.sender, func(_ context.Context, n *node) { n.close() })
	switch {
	case t.TLS != nil && a.TCP():
		a.Scheme = "tls+tcp"
		host := a.Host
		if host == "0.0.0.0" {
			host = "127.0.0.1"
		}
		if s.secrets, err = o.tls(t.TLS, host); err != nil {
			return nil, err
		}
	case t.TLS != nil:
		return nil, fmt.Errorf("nanomsg: %w: TLS over %s; only over tcp", driver.ErrUnsupported, a.Scheme)
	case a.Scheme == "tls+tcp":
		return nil, fmt.Errorf("nanomsg: URL %s: %w: it wants target.tls with certificates", a, driver.ErrOption)
	}
	if s.room, err = d.directory.Enter(t.Run, a, func(r *mesh.Room) error {
		r.Shared = new(atomic.Int64) // the largest message, which only one session is told of
		return nil
	}); err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	return s, nil
}

// checkTopic refuses names that would not end where they end.
func checkTopic(topic string) error {
	if topic == "" || strings.IndexByte(topic, 0) >= 0 {
		return fmt.Errorf("nanomsg: topic %q: %w: names are not empty and have no zero bytes", topic, driver.ErrUnsupported)
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
		if err := mesh.CheckPushed(t, "nanomsg"); err != nil {
			return driver.Semantics{}, fmt.Errorf("nanomsg: %w", err)
		}
	}
	s.room.Shared.(*atomic.Int64).Store(int64(t.MaxSize))
	return s.semantics(t), nil
}

// Deprovision implements driver.Session. There is nothing that could be left.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	receivers := s.receivers
	s.receivers = map[*receiver]struct{}{}
	s.mu.Unlock()
	// The library hangs in a connection that is closed while it is being made.
	joined := make(chan struct{})
	go func() {
		s.joining.Wait()
		close(joined)
	}()
	select {
	case <-joined:
	case <-ctx.Done():
	}
	s.senders.Close(ctx)
	var err error
	for r := range receivers {
		r.shut()
	}
	for r := range receivers {
		if wait := r.wait(ctx); err == nil {
			err = wait
		}
	}
	s.leave.Do(func() { s.room.Leave(nil) })
	return err
}

func (s *session) errClosed(what string) error {
	return fmt.Errorf("nanomsg: %s: session %w", what, driver.ErrClosed)
}

// join tells that a socket is going to be connected, until done is called.
func (s *session) join(what string) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.errClosed(what)
	}
	s.joining.Add(1)
	return s.joining.Done, nil
}

func (s *session) binds(r role) bool {
	switch s.options.Bind {
	case "producers":
		return r.sends()
	case "consumers":
		return !r.sends()
	}
	return r == publishes || r == pushes || r == responds
}

// sender connects the socket of a line.
func (s *session) sender(ctx context.Context, l mesh.Line) (*node, error) {
	done, err := s.join("connect")
	if err != nil {
		return nil, err
	}
	defer done()
	r := publishes
	if s.driver.pipeline {
		r = pushes
	}
	n, err := s.newNode(r, nil)
	if err != nil {
		return nil, err
	}
	return n, s.add(ctx, n, l.Keys()...)
}

// add connects the node with all others of its keys and waits until that has
// happened. If there is an error the node is closed.
func (s *session) add(ctx context.Context, n *node, keys ...string) error {
	m, others, err := s.room.Add(n, s.binds(n.role), keys...)
	if err != nil {
		n.close()
		if errors.Is(err, mangos.ErrAddrInUse) {
			err = fmt.Errorf("%w: %w", err, syscall.EADDRINUSE)
		}
		if driver.Class(err) == nil || errors.Is(err, fs.ErrNotExist) {
			err = s.room.Address().BindError(err)
		}
		return fmt.Errorf("nanomsg: socket %s: %w", n.role, err)
	}
	if !n.joined(m) {
		s.room.Remove(m)
		return s.errClosed("connect")
	}
	if err := n.settle(ctx, m); err != nil {
		n.close()
		return err
	}
	for _, o := range others {
		if err := o.Socket.(*node).settle(ctx, o); err != nil {
			n.close()
			return err
		}
	}
	return nil
}
