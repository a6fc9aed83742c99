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

// socket is a connected TCP socket outside the runtime's poller: its reader waits in the
// kernel, on a thread of its own. A goroutine that waits in the poller is woken by the
// polling thread, which must first wake another thread to poll on.
//
// The reader blocks in recvmsg(2) for up to patience: one system call for each message,
// where poll(2) makes it two. Only after that does it wait in poll(2), which a new deadline
// ends at once. Calls that must not block pass MSG_DONTWAIT.
//
// It implements net.Conn and syscall.Conn. All methods are safe for concurrent use, but at
// most one goroutine may read and one may write at a time: a direction has one wait.
//
// users keeps the descriptors open: a method calls enter before it uses fd and leave after.
// Close sets closedBit, so that further enters fail, and wakes both directions; the last
// leave closes the descriptors. So no call uses a descriptor number that was closed and
// reused.
type socket struct {
	fd            int
	local, remote net.Addr
	users         atomic.Int64 // number of calls that use fd now, plus closedBit
	reading       direction
	writing       direction
}

const closedBit = 1 << 62

// patience is how long one receive blocks at most, and so how late a deadline fires at most
// that is set or moved forward during it.
const patience = 50 * time.Millisecond

// direction is the state of reading or of writing.
type direction struct {
	events   int16         // for poll(2)
	wake     int           // an eventfd whose value ends a wait
	thread   thread.Reader // belongs to the goroutine that waits
	deadline atomic.Int64  // on the monotonic clock, ns; 0: no deadline; any goroutine sets it
	until    atomic.Int64  // end of the current wait, MaxInt64: no limit, 0: no wait; the waiting goroutine sets it
}

// threadsMost is the number of open connections up to which each reader waits in the kernel,
// on a thread of its own. Readers of further connections wait in the runtime's poller, which
// slows all down: with 70 connections, six of them in the poller, 40,000 deliveries a second
// made it poll 7,000 times and wake 3,500 threads. A connection takes three descriptors, so
// the limit is an eighth of the process's descriptor limit.
var threadsMost = func() int64 {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil {
		return 64
	}
	return int64(min(256, files.Cur/8))
}()

// ownWait returns a connection that replaces c and whose readers wait in the kernel, or c
// itself if it is not a TCP connection or no descriptors are left.
func ownWait(c net.Conn) net.Conn {
	if t, ok := c.(*net.TCPConn); ok {
		if s, err := takeOver(t); err == nil {
			return s
		}
	}
	return c
}

// takeOver moves the socket of c out of the runtime's poller and closes c. After an error c
// is unchanged.
func takeOver(c *net.TCPConn) (*socket, error) {
	s := &socket{fd: -1, local: c.LocalAddr(), remote: c.RemoteAddr()}
	s.reading = direction{events: unix.POLLIN, wake: -1}
	s.writing = direction{events: unix.POLLOUT, wake: -1}
	if err := s.open(c); err != nil {
		s.free()
		return nil, err
	}
	// This removes the socket from the poller. The duplicated descriptor keeps it open.
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

// free closes the descriptors that are open.
func (s *socket) free() {
	for _, fd := range []int{s.fd, s.reading.wake, s.writing.wake} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// enter keeps the descriptors open until leave. It returns false once the socket is closed;
// leave must not be called then.
func (s *socket) enter() bool {
	if s.users.Add(1)&closedBit == 0 {
		return true
	}
	s.leave()
	return false
}

// leave closes the descriptors if it is the last after Close. The second bit makes that
// happen once: an enter that fails also counts up and down, and could reach zero again.
func (s *socket) leave() {
	if s.users.Add(-1) == closedBit && s.users.CompareAndSwap(closedBit, closedBit|closedBit>>1) {
		s.free()
	}
}

// Close implements net.Conn. It ends all waits. The last call in progress closes the
// descriptors.
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
	_ = unix.Shutdown(s.fd, unix.SHUT_RD) // ends a blocking receive; sends nothing to the other side
	s.leave()
	return nil
}

func (s *socket) closed() bool { return s.users.Load()&closedBit != 0 }

func (d *direction) interrupt() {
	_, _ = unix.Write(d.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it fails only if a wake-up is pending already
}

// do calls f until it returns true, and waits before each further call. waiting, if not nil,
// is a variant of f that itself blocks for up to patience. do returns net.ErrClosed after
// Close and os.ErrDeadlineExceeded after the deadline.
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

// waitIn calls f, which blocks in the kernel. It stores until before it checks for Close,
// see wait.
func (s *socket) waitIn(d *direction, f func(fd uintptr) bool) (done bool, err error) {
	d.until.Store(waitEnd(d.deadline.Load()))
	defer d.until.Store(0)
	if s.closed() {
		return false, net.ErrClosed
	}
	// Pacers have short scheduler slices. A reader with a longer one would wait for each
	// pacer that wakes between the arrival of data and its read.
	d.thread.ShortenSlice()
	return f(uintptr(s.fd)), nil
}

// wait returns when the socket is ready, perhaps sooner.
func (s *socket) wait(d *direction) error {
	until := d.deadline.Load()
	d.until.Store(waitEnd(until))
	defer d.until.Store(0)
	// set stores the deadline and then loads until; this stores until and then loads the
	// deadline. So either this sees the new deadline or set sees the wait and interrupts it.
	// Close sets closedBit and then interrupts always.
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

// rest waits for d, whether or not data arrives, or until the socket is closed. Then it
// returns net.ErrClosed.
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
	fds := [2]unix.PollFd{{Fd: -1}, {Fd: int32(w.wake), Events: unix.POLLIN}} // poll(2) ignores a negative descriptor
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

// set changes the deadline. It interrupts the current wait only if that would end too late.
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
