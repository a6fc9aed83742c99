package transport

import (
	"errors"
	"io"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
)

// socket is a connected TCP socket outside the runtime's poller: who
// reads it waits in the kernel, on a thread of its own. A goroutine that waits in the
// poller is woken by way of a thread that the poller wakes first, and which wakes
// another to take its place.
//
// Who reads it waits in recvmsg(2) for up to patience: one system call for each message,
// where poll(2) makes it two. Only then does it wait in poll(2), which a new deadline ends
// at once. What must not wait says MSG_DONTWAIT.
//
// It implements net.Conn and syscall.Conn.
type socket struct {
	fd            int
	local, remote net.Addr
	users         atomic.Int64 // who use fd now, and closedBit
	reading       direction
	writing       direction
}

const closedBit = 1 << 62

// patience is for how long a receive waits, and by how much at most a deadline is
// missed that is set, or moved forward, meanwhile.
const patience = 50 * time.Millisecond

// direction is the state of reading or of writing.
type direction struct {
	events   int16
	wake     int // an eventfd that ends a wait
	thread   thread.Reader
	deadline atomic.Int64 // on the monotonic clock, ns; 0: none
	until    atomic.Int64 // the deadline of the current wait, MaxInt64 without one; 0: no wait
}

// threadsMost is up to how many open connections each reader waits in the kernel, on
// a thread of its own. Beyond, readers wait in the runtime's poller, and cost more for all:
// with 70 connections, of which six waited there, 40,000 deliveries a second made the poller
// look 7,000 times and woke 3,500 threads. A connection takes three descriptors, so that it
// is an eighth of what the process may have.
var threadsMost = func() int64 {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil {
		return 64
	}
	return int64(min(256, files.Cur/8))
}()

// ownWait returns a connection in place of c whose readers wait in the kernel, or c
// if it is no TCP connection or the system has no descriptors left.
func ownWait(c net.Conn) net.Conn {
	if t, ok := c.(*net.TCPConn); ok {
		if s, err := takeOver(t); err == nil {
			return s
		}
	}
	return c
}

// takeOver moves the socket of c out of the runtime's poller. c is closed then,
// unless it fails.
func takeOver(c *net.TCPConn) (*socket, error) {
	s := &socket{fd: -1, local: c.LocalAddr(), remote: c.RemoteAddr()}
	s.reading = direction{events: unix.POLLIN, wake: -1}
	s.writing = direction{events: unix.POLLOUT, wake: -1}
	if err := s.open(c); err != nil {
		s.free()
		return nil, err
	}
	// This ends the runtime's interest. The socket lives on in the second descriptor.
	_ = c.Close()
	limit := unix.NsecToTimeval(int64(patience))
	if unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit) == nil {
		_ = unix.SetNonblock(s.fd, false) // else a receive does not wait, and poll(2) has to
	}
	return s, nil
}

func (s *socket) open(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	for _, d := range []*direction{&s.reading, &s.writing} {
		if d.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			return err
		}
	}
	if e := raw.Control(func(fd uintptr) { s.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); e != nil {
		return e
	}
	return err
}

// free closes what there is.
func (s *socket) free() {
	for _, fd := range []int{s.fd, s.reading.wake, s.writing.wake} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// enter keeps the descriptors open until leave; false: they are closed.
func (s *socket) enter() bool {
	if s.users.Add(1)&closedBit == 0 {
		return true
	}
	s.leave()
	return false
}

func (s *socket) leave() {
	if s.users.Add(-1) == closedBit && s.users.CompareAndSwap(closedBit, closedBit|closedBit>>1) {
		s.free()
	}
}

// Close implements net.Conn. The last who uses the socket closes it for good.
func (s *socket) Close() error {
	for {
		n := s.users.Load()
		if n&closedBit != 0 {
			return net.ErrClosed
		}
		if s.users.CompareAndSwap(n, (n+1)|closedBit) {
			break
		}
	}
	s.reading.interrupt()
	s.writing.interrupt()
	_ = unix.Shutdown(s.fd, unix.SHUT_RD) // ends a receive that waits; the other side does not hear of it
	s.leave()
	return nil
}

func (s *socket) closed() bool { return s.users.Load()&closedBit != 0 }

func (d *direction) interrupt() {
	_, _ = unix.Write(d.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // full: it is woken anyway
}

// do calls f until it reports that it is done, and waits before each further call. A
// waiting that is not nil is f that waits itself, for up to patience.
func (s *socket) do(d *direction, f, waiting func(fd uintptr) bool) error {
	if !s.enter() {
		return net.ErrClosed
	}
	defer s.leave()
	for {
		left := int64(math.MaxInt64)
		if until := d.deadline.Load(); until != 0 {
			if left = until - clock.Now(); left <= 0 {
				return os.ErrDeadlineExceeded
			}
		}
		if f(uintptr(s.fd)) {
			return nil
		}
		if waiting != nil && left > int64(patience) {
			if done, err := s.waitIn(d, waiting); done || err != nil {
				return err
			}
		}
		if err := s.wait(d); err != nil {
			return err
		}
	}
}

// waitIn calls f, which waits in the kernel. One goroutine at a time does.
func (s *socket) waitIn(d *direction, f func(fd uintptr) bool) (done bool, err error) {
	d.until.Store(waitEnd(d.deadline.Load()))
	defer d.until.Store(0)
	if s.closed() {
		return false, net.ErrClosed
	}
	// Pacers have short slices. A reader with a longer one waits for each of them that
	// wakes, between what has come and reading it.
	d.thread.ShortenSlice()
	return f(uintptr(s.fd)), nil
}

// wait returns when the socket is ready, perhaps sooner.
func (s *socket) wait(d *direction) error {
	until := d.deadline.Load()
	d.until.Store(waitEnd(until))
	defer d.until.Store(0)
	// Who sets a deadline or closes looks at until afterwards.
	if s.closed() {
		return net.ErrClosed
	}
	if d.deadline.Load() != until {
		return nil
	}
	fds := [2]unix.PollFd{{Fd: int32(s.fd), Events: d.events}, {Fd: int32(d.wake), Events: unix.POLLIN}}
	clock.PollHandingOver(&fds, until)
	if fds[1].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(d.wake, count[:])
	}
	return nil
}

// rest waits for d, whatever comes meanwhile, or until the socket is closed.
func (s *socket) rest(d time.Duration) error {
	if !s.enter() {
		return net.ErrClosed
	}
	defer s.leave()
	w := &s.reading
	w.until.Store(math.MaxInt64)
	defer w.until.Store(0)
	if s.closed() {
		return net.ErrClosed
	}
	fds := [2]unix.PollFd{{Fd: -1}, {Fd: int32(w.wake), Events: unix.POLLIN}} // of the first nothing is asked
	clock.PollHandingOver(&fds, clock.Now()+int64(d))
	if s.closed() {
		return net.ErrClosed
	}
	return nil
}

func waitEnd(deadline int64) int64 {
	if deadline == 0 {
		return math.MaxInt64
	}
	return deadline
}

// set changes the deadline. A wait is ended only if it would go on for too long.
func (d *direction) set(t time.Time) {
	at := int64(0)
	if !t.IsZero() {
		at = max(clock.Now()+int64(time.Until(t)), 1)
	}
	d.deadline.Store(at)
	if until := d.until.Load(); until > waitEnd(at) {
		d.interrupt()
	}
}

func (s *socket) setDeadline(t time.Time, ds ...*direction) error {
	if !s.enter() {
		return opError("set", s, net.ErrClosed)
	}
	defer s.leave()
	for _, d := range ds {
		d.set(t)
	}
	return nil
}

// SetDeadline implements net.Conn.
func (s *socket) SetDeadline(t time.Time) error { return s.setDeadline(t, &s.reading, &s.writing) }

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error { return s.setDeadline(t, &s.reading) }

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error { return s.setDeadline(t, &s.writing) }

// LocalAddr implements net.Conn.
func (s *socket) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *socket) RemoteAddr() net.Addr { return s.remote }

// Read implements net.Conn.
func (s *socket) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	e := s.do(&s.reading, func(fd uintptr) bool {
		n, _, err = unix.Recvfrom(int(fd), p, unix.MSG_DONTWAIT)
		return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
	}, nil)
	switch {
	case e != nil:
		return 0, opError("read", s, e)
	case err != nil:
		return 0, opError("read", s, os.NewSyscallError("read", err))
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (written int, err error) {
	e := s.do(&s.writing, func(fd uintptr) bool {
		for written < len(p) {
			var n int
			n, err = unix.SendmsgN(int(fd), p[written:], nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			switch {
			case err == nil:
				written += n
			case errors.Is(err, unix.EAGAIN):
				err = nil
				return false
			case !errors.Is(err, unix.EINTR):
				return true
			}
		}
		return true
	}, nil)
	switch {
	case e != nil:
		return written, opError("write", s, e)
	case err != nil:
		return written, opError("write", s, os.NewSyscallError("write", err))
	}
	return written, nil
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return rawConn{s}, nil }

// rawConn implements syscall.RawConn.
type rawConn struct{ s *socket }

// Control implements syscall.RawConn.
func (c rawConn) Control(f func(fd uintptr)) error {
	if !c.s.enter() {
		return net.ErrClosed
	}
	defer c.s.leave()
	f(uintptr(c.s.fd))
	return nil
}

// Read implements syscall.RawConn.
func (c rawConn) Read(f func(fd uintptr) bool) error {
	if err := c.s.do(&c.s.reading, f, nil); err != nil {
		return opError("read", c.s, err)
	}
	return nil
}

// Write implements syscall.RawConn.
func (c rawConn) Write(f func(fd uintptr) bool) error {
	if err := c.s.do(&c.s.writing, f, nil); err != nil {
		return opError("write", c.s, err)
	}
	return nil
}
