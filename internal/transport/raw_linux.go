package transport

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
)

// rawSocket reads and writes a TCP socket by system calls that bypass Go's scheduler. Where the
// kernel would block, conn waits, in the kernel or in the runtime's poller, and handles
// deadlines and closing.
//
// send and receive are method values made once, so that a call does not allocate a closure;
// they pass their arguments and results in the fields below.
type rawSocket struct {
	conn    syscall.RawConn
	stamped bool // the kernel stamps received segments; set at the start only

	// The current write. Conn.out's lock serialises writes.
	out     []byte
	outErr  syscall.Errno
	written int
	send    func(fd uintptr) bool

	// The current read. reading guards all fields below and is held for a whole read, the wait
	// included, so that read and readNow do not mix.
	reading sync.Mutex
	in      []byte
	inErr   syscall.Errno
	got     int
	receive func(fd uintptr) bool
	vec     unix.Iovec
	head    unix.Msghdr
	control [64]byte
	emptied bool  // the last read did not fill its buffer: the socket was empty
	unasked int   // next reads that block without a non-blocking attempt, if emptied
	spare   int   // the last start value of unasked
	offset  int64 // wall clock − monotonic clock at the last read, ns; 0: no read yet
	at      int64 // instant of the last read, ns
}

// newRawSocket returns nil for connections other than TCP.
func newRawSocket(c net.Conn) *rawSocket {
	var conn syscall.RawConn
	var err error
	switch t := c.(type) {
	case *socket:
		conn, err = t.SyscallConn()
	case *net.TCPConn:
		conn, err = t.SyscallConn()
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	s := &rawSocket{conn: conn}
	_ = conn.Control(func(fd uintptr) {
		s.stamped = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
	})
	s.send, s.receive = s.sendOn, s.receiveOn
	if restable(c) {
		s.receive = s.receiveAhead
	}
	return s
}

// sendOn writes the rest of out. It returns false if the socket's buffer is full.
func (s *rawSocket) sendOn(fd uintptr) bool {
	for s.written < len(s.out) {
		p := s.out[s.written:]
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)),
			unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			s.written += int(n)
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			s.outErr = errno
			return true
		}
	}
	return true
}

func (s *rawSocket) write(c net.Conn, p []byte) (int, error) {
	s.out, s.written, s.outErr = p, 0, 0
	written()
	err := s.conn.Write(s.send)
	s.out = nil
	if err == nil && s.outErr != 0 {
		err = opError("write", c, os.NewSyscallError("write", s.outErr))
	}
	return s.written, err
}

// receiveOn reads once without blocking. It returns false if nothing is there.
func (s *rawSocket) receiveOn(fd uintptr) bool {
	for {
		s.prepare()
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.head)), unix.MSG_DONTWAIT)
		if errno != unix.EINTR {
			return s.received(n, errno)
		}
	}
}

// receiveWaiting reads once and blocks for up to the socket's receive timeout. It returns false
// on the timeout or a signal.
func (s *rawSocket) receiveWaiting(fd uintptr) bool {
	s.prepare()
	return s.received(clock.ReceiveHandingOver(fd, &s.head))
}

func (s *rawSocket) prepare() {
	s.vec.Base = &s.in[0]
	s.vec.SetLen(len(s.in))
	s.head = unix.Msghdr{Iov: &s.vec, Control: &s.control[0]}
	s.head.SetIovlen(1)
	s.head.SetControllen(len(s.control))
}

// received stores the result of recvmsg(2). It returns false if the read must be repeated.
func (s *rawSocket) received(n uintptr, errno syscall.Errno) bool {
	switch errno {
	case 0:
		s.got = int(n)
		s.emptied = s.got < len(s.in)
	case unix.EAGAIN, unix.EINTR:
		return false
	default:
		s.inErr = errno
	}
	return true
}

// spareMost is the largest number of reads in a row that block without a non-blocking attempt.
const spareMost = 15

// receiveAhead is receiveOn for a reader that waits in the kernel itself; false makes it wait.
// After a read that did not fill its buffer, a non-blocking read finds nothing if the reader
// keeps up, and costs a system call for each message. So the reader blocks without it.
// Nothing is lost: a blocking call returns at once while anything is unread, and at the end of
// the stream.
//
// For a reader that is behind, the blocking call is the more expensive one. So reads try
// without blocking until one finds nothing; then one read skips the attempt, then three, up to
// spareMost. An attempt that finds something resets the count.
func (s *rawSocket) receiveAhead(fd uintptr) bool {
	emptied := s.emptied
	s.emptied = false // once for each read
	if emptied && s.unasked > 0 {
		s.unasked--
		return false
	}
	found := s.receiveOn(fd)
	switch {
	case !emptied: // it has just waited, or the last read filled its buffer: no evidence
	case found:
		s.spare = 0
	default:
		s.spare = min(2*s.spare+1, spareMost)
		s.unasked = s.spare
	}
	return found
}

// read is Read that also returns now, the instant after the read, and waited, for how many ns
// the last segment had waited on this machine (−1: unknown).
func (s *rawSocket) read(c net.Conn, p []byte) (n int, now, waited int64, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.in, s.got, s.inErr = p, 0, 0
	if own, ok := c.(*socket); ok {
		if err = own.do(&own.reading, s.receive, s.receiveWaiting); err != nil {
			err = opError("read", c, err)
		}
	} else {
		err = s.conn.Read(s.receive)
	}
	if err != nil {
		s.in, s.vec.Base = nil, nil
		return 0, 0, -1, err
	}
	return s.took(c)
}

// took returns the result of the current read. The caller holds reading.
func (s *rawSocket) took(c net.Conn) (n int, now, waited int64, err error) {
	s.in, s.vec.Base = nil, nil
	switch {
	case s.inErr != 0:
		return 0, 0, -1, opError("read", c, os.NewSyscallError("read", s.inErr))
	case s.got == 0:
		if own, ok := c.(*socket); ok && own.closed() { // no end of the stream: see socket.Close
			return 0, 0, -1, opError("read", c, net.ErrClosed)
		}
		return 0, 0, -1, io.EOF
	}
	received()
	t := time.Now()
	now = clock.At(t)
	return s.got, now, s.waited(t.UnixNano(), now), nil
}

// readNow is read without waiting for data: it returns EAGAIN if nothing is there. It still
// waits for a read in progress. c must be restable.
func (s *rawSocket) readNow(c net.Conn, p []byte) (n int, now, waited int64, err error) {
	own := c.(*socket)
	if !own.enter() {
		return 0, 0, -1, opError("read", c, net.ErrClosed)
	}
	defer own.leave()
	s.reading.Lock()
	defer s.reading.Unlock()
	s.in, s.got, s.inErr = p, 0, 0
	if !s.receiveOn(uintptr(own.fd)) {
		s.in, s.vec.Base = nil, nil
		return 0, 0, -1, syscall.EAGAIN
	}
	return s.took(c)
}

// rest waits for d, whether or not data arrives, or until c is closed. c must be restable.
func (s *rawSocket) rest(c net.Conn, d time.Duration) error { return c.(*socket).rest(d) }

// restable reports whether readNow and rest may be called with c.
func restable(c net.Conn) bool {
	_, ok := c.(*socket)
	return ok
}

// waited returns how many ns ago the kernel stamped the data that was read. The stamp is
// of the wall clock: if that was set since the last read, waited returns −1 (unknown).
func (s *rawSocket) waited(wall, now int64) int64 {
	offset := wall - now
	moved := offset - s.offset
	known := s.offset != 0 && max(moved, -moved) <= stepLeast+(now-s.at)/stepShare
	s.offset, s.at = offset, now
	stamp := stampIn(s.control[:], &s.head)
	if stamp == 0 || !known || stamp > wall+stepLeast {
		return -1
	}
	return max(wall-stamp, 0)
}

const (
	// The wall clock counts as set if the offset between the two clocks changed by more than
	// stepLeast ns plus 1/stepShare of the time since the last read. A clock under discipline
	// is slewed by at most 500 ppm (adjtime(3)).
	stepLeast = 100_000
	stepShare = 1000
)

// stampIn returns the time stamp among the control messages (cmsg(3)), in ns of the wall
// clock, or 0 if they have none.
func stampIn(control []byte, head *unix.Msghdr) int64 {
	left := control[:min(int(head.Controllen), len(control))]
	for len(left) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&left[0]))
		length := int(h.Len)
		if length < unix.SizeofCmsghdr || length > len(left) {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && length >= unix.CmsgLen(16) {
			data := left[unix.CmsgLen(0):]
			return int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		}
		left = left[min(unix.CmsgSpace(length-unix.CmsgLen(0)), len(left)):]
	}
	return 0
}

func opError(op string, c net.Conn, err error) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// shut ends both directions of a connection.
func shut(c net.Conn) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return c.Close()
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_RDWR) }); err != nil {
		return err
	}
	if failed == unix.ENOTCONN { // the other side has already closed it
		return nil
	}
	return failed
}
