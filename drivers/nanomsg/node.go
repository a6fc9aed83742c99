package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"go.nanomsg.org/mangos/v3"
	"go.nanomsg.org/mangos/v3/protocol"
	"go.nanomsg.org/mangos/v3/protocol/pub"
	"go.nanomsg.org/mangos/v3/protocol/pull"
	"go.nanomsg.org/mangos/v3/protocol/push"
	"go.nanomsg.org/mangos/v3/protocol/sub"
	"go.nanomsg.org/mangos/v3/protocol/xrep"
	"go.nanomsg.org/mangos/v3/protocol/xreq"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// node is one of the library's sockets, and implements mesh.Socket.
type node struct {
	role    mesh.Role
	session *session
	sock    mangos.Socket

	mu       sync.Mutex
	member   *mesh.Member // nil: in no room
	dialers  map[string]mangos.Dialer
	attached int           // connections that carry messages
	changed  chan struct{} // closed when attached changes
	closed   bool
}

// newNode makes a socket; take gets what comes, if the protocol is our own.
func (s *session) newNode(r mesh.Role, take taker) (*node, error) {
	n := &node{role: r, session: s, dialers: map[string]mangos.Dialer{}, changed: make(chan struct{})}
	options := map[string]any{mangos.OptionReconnectTime: s.options.Reconnect,
		// No limit: what is too large would end the connection without a word.
		mangos.OptionMaxRecvSize: 0}
	if s.options.direct() {
		n.sock = protocol.MakeSocket(newWire(r, take))
	} else {
		make := [...]func() (mangos.Socket, error){pub.NewSocket, sub.NewSocket, push.NewSocket, pull.NewSocket, xreq.NewSocket, xrep.NewSocket}[r]
		var err error
		if n.sock, err = make(); err != nil {
			return nil, fmt.Errorf("nanomsg: make a socket %s: %w: %w", nameOf(r), driver.ErrNotConnected, err)
		}
		if r != mesh.Subscribes && r != mesh.Pulls {
			options[mangos.OptionWriteQLen] = s.options.Queue
		}
		if r != mesh.Publishes && r != mesh.Pushes {
			options[mangos.OptionReadQLen] = s.options.Queue
		}
		if r == mesh.Pushes {
			options[mangos.OptionFailNoPeers] = true
		}
	}
	for name, value := range options {
		if err := n.sock.SetOption(name, value); err != nil {
			n.sock.Close()
			return nil, fmt.Errorf("nanomsg: set %s of a socket %s to %v: %w: %w", name, nameOf(r), value, driver.ErrOption, err)
		}
	}
	n.sock.SetPipeEventHook(n.event)
	return n, nil
}

// event counts the connections.
func (n *node) event(e mangos.PipeEvent, _ mangos.Pipe) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e {
	case mangos.PipeEventAttached:
		n.attached++
	case mangos.PipeEventDetached:
		n.attached--
	default:
		return
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// joined notes that the node is the room's member m, unless it has been closed.
func (n *node) joined(m *mesh.Member) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.member = m
	return true
}

// settle waits until the node, which is the member m, has as many connections as
// it has peers.
func (n *node) settle(ctx context.Context, m *mesh.Member) error {
	for {
		n.mu.Lock()
		ok, changed := n.attached >= m.Peers() || n.closed, n.changed
		n.mu.Unlock()
		if ok {
			return nil
		}
		// No event reports peers that leave: look again.
		look := time.NewTimer(100 * time.Millisecond)
		select {
		case <-changed:
			look.Stop()
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return fmt.Errorf("nanomsg: connect a socket %s: %w: its peers have not been heard of: %w", nameOf(n.role), driver.ErrTimeout, context.Cause(ctx))
		}
	}
}

// connection returns the options of a listener or dialer.
func (n *node) connection(server bool) map[string]any {
	options := map[string]any{}
	s := n.session
	if scheme := s.Room.Address().Scheme; scheme == "tcp" || scheme == "tls+tcp" {
		if s.options.KeepAlive > 0 {
			options[mangos.OptionKeepAliveTime] = s.options.KeepAlive
		}
		if scheme == "tls+tcp" {
			options[mangos.OptionTLSConfig] = s.secrets.client
			if server {
				options[mangos.OptionTLSConfig] = s.secrets.server
			}
		}
	}
	return options
}

// Bind implements mesh.Socket.
func (n *node) Bind(endpoint string) (string, error) {
	l, err := n.sock.NewListener(endpoint, n.connection(true))
	if err == nil {
		err = l.Listen()
	}
	if errors.Is(err, mangos.ErrAddrInUse) {
		err = syscall.EADDRINUSE
	}
	if err != nil {
		return "", err
	}
	return l.Address(), nil
}

// Connect implements mesh.Socket.
func (n *node) Connect(endpoint string) error {
	d, err := n.sock.NewDialer(endpoint, n.connection(false))
	if err == nil {
		err = d.Dial()
	}
	if err != nil {
		class := driver.ErrNotConnected
		switch {
		case errors.Is(err, mangos.ErrClosed):
			class = driver.ErrClosed
		case refused(err):
			class = driver.ErrUnauthorized
		}
		return fmt.Errorf("connect to %s: %w: %w", endpoint, class, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialers[endpoint] = d
	return nil
}

// Disconnect implements mesh.Socket. The other side closes the connection.
func (n *node) Disconnect(endpoint string) {
	n.mu.Lock()
	d := n.dialers[endpoint]
	delete(n.dialers, endpoint)
	n.mu.Unlock()
	if d != nil {
		_ = d.Close() // so that it is not made again
	}
}

// close takes the node away from its peers and closes it.
func (n *node) close() {
	n.mu.Lock()
	before, member := n.closed, n.member
	n.closed = true
	n.mu.Unlock()
	if before {
		return
	}
	if member != nil {
		n.session.Room.Remove(member)
	}
	_ = n.sock.Close() // says only that it was closed
}

// alone reports whether there are no peers.
func (n *node) alone() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.member == nil || n.member.Peers() == 0
}

func (n *node) isClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}
