//go:build zeromq && cgo && !windows

package zeromq

// #include <zmq.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// kindOf is the kind of socket that a role has.
func kindOf(r mesh.Role) string {
	return [...]string{"XPUB", "SUB", "PUSH", "PULL", "DEALER", "ROUTER"}[r]
}

// socket is a socket of libzmq, and implements mesh.Socket. Several threads may use such a
// socket, but only one at a time: mu ensures that.
//
// A receiver waits for a descriptor, which becomes readable when another thread signals
// the socket. Any call on the socket may consume that signal, and then the descriptor
// stays silent although messages are available. So a goroutine that makes calls beside
// the receiver must wake the receiver if it sleeps.
type socket struct {
	role    mesh.Role
	options *Options
	library *library

	mu     sync.Mutex
	ptr    unsafe.Pointer // nil: closed
	asleep bool           // the receiver has found no message
	wake   func()         // wakes the receiver; nil: no receiver

	greeting string          // of a subscriber
	greeted  map[string]bool // of a publisher: what subscribers have greeted
}

// hwms are the high-water marks in effect.
type hwms struct{ send, receive int }

func newSocket(l *library, r mesh.Role, o *Options, h hwms, ipv6 bool) (*socket, error) {
	types := [...]C.int{C.ZMQ_XPUB, C.ZMQ_SUB, C.ZMQ_PUSH, C.ZMQ_PULL, C.ZMQ_DEALER, C.ZMQ_ROUTER}
	ptr, err := l.open(types[r])
	if err != nil {
		return nil, fmt.Errorf("make a socket %s: %w: %w", kindOf(r), driver.ErrNotConnected, err)
	}
	s := &socket{role: r, options: o, library: l, ptr: ptr, greeted: map[string]bool{}}
	set := []struct {
		option C.int
		value  int
		when   bool
	}{
		{C.ZMQ_LINGER, int(o.Linger / time.Millisecond), true},
		{C.ZMQ_SNDHWM, h.send, true},
		{C.ZMQ_RCVHWM, h.receive, true},
		{C.ZMQ_SNDBUF, int(o.SendBuffer), o.SendBuffer > 0},
		{C.ZMQ_RCVBUF, int(o.ReceiveBuffer), o.ReceiveBuffer > 0},
		{C.ZMQ_TCP_KEEPALIVE, 1, o.KeepAlive > 0},
		{C.ZMQ_TCP_KEEPALIVE_IDLE, max(1, int(o.KeepAlive/time.Second)), o.KeepAlive > 0},
		{C.ZMQ_IPV6, 1, ipv6},
		{C.ZMQ_XPUB_NODROP, 1, r == mesh.Publishes && o.Full == "block"},
		// Messages are not queued for peers that are not connected yet.
		{C.ZMQ_IMMEDIATE, 1, r == mesh.Pushes || r == mesh.Requests},
		// A reply to a requester that has gone is an error, instead of being lost silently.
		{C.ZMQ_ROUTER_MANDATORY, 1, r == mesh.Responds},
	}
	for _, one := range set {
		if !one.when {
			continue
		}
		if err := setInt(ptr, one.option, one.value); err != nil {
			s.close()
			return nil, fmt.Errorf("set option %d of a socket %s to %d: %w: %w", one.option, kindOf(r), one.value, driver.ErrOption, err)
		}
	}
	return s, nil
}

// Bind implements mesh.Socket.
func (s *socket) Bind(endpoint string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return "", driver.ErrClosed
	}
	if c := s.library.curve; c != nil {
		err := errors.Join(setInt(s.ptr, C.ZMQ_CURVE_SERVER, 1), setString(s.ptr, C.ZMQ_CURVE_SECRETKEY, c.serverSecret))
		if err != nil {
			return "", err
		}
	}
	if err := bind(s.ptr, endpoint); err != nil {
		return "", err
	}
	return lastEndpoint(s.ptr)
}

// Connect implements mesh.Socket.
func (s *socket) Connect(endpoint string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return driver.ErrClosed
	}
	defer s.rouse()
	if c := s.library.curve; c != nil {
		err := errors.Join(setString(s.ptr, C.ZMQ_CURVE_SERVERKEY, c.serverPublic),
			setString(s.ptr, C.ZMQ_CURVE_PUBLICKEY, c.clientPublic), setString(s.ptr, C.ZMQ_CURVE_SECRETKEY, c.clientSecret))
		if err != nil {
			return err
		}
	}
	if err := connect(s.ptr, endpoint); err != nil {
		return fmt.Errorf("connect to %s: %w: %w", endpoint, driver.ErrNotConnected, err)
	}
	return nil
}

// Disconnect implements mesh.Socket.
func (s *socket) Disconnect(endpoint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return
	}
	defer s.rouse()
	// What has gone already cannot be disconnected, and need not be.
	_ = disconnect(s.ptr, endpoint)
}

// rouse wakes who receives, after a call that may have taken in what it waits
// for. The caller holds mu.
func (s *socket) rouse() {
	if s.asleep && s.wake != nil {
		s.asleep = false
		s.wake()
	}
}

// gone reports whether the socket has been closed.
func (s *socket) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ptr == nil
}

// close closes the socket. Its peers notice later.
func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr != nil {
		C.zmq_close(s.ptr)
		s.ptr = nil
	}
}

// subscribe asks for what begins with prefix.
func (s *socket) subscribe(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return driver.ErrClosed
	}
	return setString(s.ptr, C.ZMQ_SUBSCRIBE, prefix)
}

// reached reports whether a publisher has got the greeting of the peer, or
// whether another sender has any peer.
func (s *socket) reached(peer *socket) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return false, driver.ErrClosed
	}
	if s.role != mesh.Publishes {
		events, err := getInt(s.ptr, C.ZMQ_EVENTS)
		s.rouse()
		return events&C.ZMQ_POLLOUT != 0, err
	}
	// A publisher receives subscriptions: a byte that says whether one comes or
	// goes, and the prefix.
	var m C.zmq_msg_t
	C.zmq_msg_init(&m)
	defer C.zmq_msg_close(&m)
	for {
		n, err := C.zmq_msg_recv(&m, s.ptr, C.ZMQ_DONTWAIT)
		if n < 0 {
			if errors.Is(err, syscall.EAGAIN) {
				return s.greeted[peer.greeting], nil
			}
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			return false, called(n, err)
		}
		text := C.GoStringN((*C.char)(C.zmq_msg_data(&m)), n)
		if prefix, comes := strings.CutPrefix(text, "\x01"); comes && strings.HasPrefix(prefix, hello) {
			s.greeted[prefix] = true
		}
	}
}

// hello begins the subscription by which a publisher knows the subscriber. It
// sorts behind all topics: libzmq passes subscriptions on in order, and with
// this one the others have come.
const hello = "\xff"

func greeting(n int64) string { return hello + strconv.FormatInt(n, 36) }

// descriptor returns a descriptor of its own for what tells of news.
func (s *socket) descriptor() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return nil, driver.ErrClosed
	}
	fd, err := getInt(s.ptr, C.ZMQ_FD)
	if err != nil {
		return nil, err
	}
	// libzmq closes its own; it has made both non-blocking.
	fd, err = syscall.Dup(fd)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "libzmq "+kindOf(s.role)), nil
}
