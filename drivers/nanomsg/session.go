package nanomsg

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// session implements driver.Session and driver.RequestReplier.
type session struct {
	*mesh.Session[*node, *receiver]
	options Options
	secrets *secrets

	mu      sync.Mutex
	closed  bool
	joining sync.WaitGroup // sockets that are being connected; Add under mu
}

// newSession checks that sockets can bind at the address. There is no broker to reach.
func (d *network) newSession(t driver.Target, o Options) (*session, error) {
	a, err := mesh.Parse(t.URL, schemes()...)
	if err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	s := &session{options: o}
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
	s.Session, err = mesh.NewSession(d.directory, t, a, mesh.Config[*node, *receiver]{
		Driver: "nanomsg", Pipeline: d.pipeline, Bind: o.Bind, Unfit: "\x00", Filters: true,
		OpenSender: s.sender, CloseSender: (*node).close, Receive: s.receive, Describe: s.describe,
	}, nil)
	return s, err
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
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
	return s.Disband(ctx, nil)
}

// join tells that a socket is going to be connected, until done is called.
func (s *session) join(what string) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.Wrap(driver.ErrClosed, "%s", what)
	}
	s.joining.Add(1)
	return s.joining.Done, nil
}

// sender connects the socket of a line.
func (s *session) sender(ctx context.Context, l mesh.Line) (*node, error) {
	done, err := s.join("connect")
	if err != nil {
		return nil, err
	}
	defer done()
	r := mesh.Publishes
	if s.Pipeline {
		r = mesh.Pushes
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
	m, others, err := s.Room.Add(n, n.role.Binds(s.Bind), keys...)
	if err != nil {
		n.close()
		return fmt.Errorf("nanomsg: socket %s: %w", nameOf(n.role), err)
	}
	if !n.joined(m) {
		s.Room.Remove(m)
		return s.Wrap(driver.ErrClosed, "connect")
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
