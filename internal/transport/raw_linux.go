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

// rawSocket reads and writes a non-blocking TCP socket by system calls that bypass
// Go's scheduler. Where the kernel would block, conn waits, deadlines and
// closing included: in the kernel or in the runtime's poller.
type rawSocket struct {
	conn    syscall.RawConn
	stamped bool

	// Of the write at hand; the caller serialises writes.
	out     []byte
	outErr  syscall.Errno
	written int
	send    func(fd uintptr) bool

	// Of the read at hand.
	reading sync.Mutex
	in      []byte
	inErr   syscall.Errno
	got     int
	receive func(fd uintptr) bool
	vec     unix.Iovec
	head    unix.Msghdr
	control [64]byte
	emptied bool  // the read before left room in its buffer: there was no more
	unasked int   // reads that wait before they ask for anything, if emptied
	spare   int   // what unasked begins with
	offset  int64 // wall clock − monotonic clock at the read before; 0: there was none
	at      int64 // when that was
}

// newRawSocket returns nil for what is no TCP socket of the runtime's.
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

// sendOn writes what is left of out; false: the socket takes nothing more now.
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

// receiveOn reads once; false: there is nothing now.
func (s *rawSocket) receiveOn(fd uintptr) bool {
	for {
		s.prepare()
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.head)), unix.MSG_DONTWAIT)
		if errno != unix.EINTR {
			return s.received(n, errno)
		}
	}
}

// receiveWaiting reads once, and waits for that as long as the socket has it wait; false:
// nothing came, or a signal did.
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

// received notes what recvmsg(2) has returned.
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

// spareMost is for how many reads in a row nothing is asked for before they wait.
const spareMost = 15

// receiveAhead is receiveOn for a reader that waits in the kernel itself: false sends it
// to wait. After a read that left room in its buffer a reader that keeps up asks for
// what is not there, which costs it a system call for each message. So it waits
// without asking. Nothing is lost by that: a wait returns at once while anything is
// unread, whenever it came, and at the end of the stream.
//
// For a reader that is behind the wait is the dearer call. So reads ask first until one
// finds nothing, then one read does not, then three and so on; the first that asks and
// finds something begins anew.
func (s *rawSocket) receiveAhead(fd uintptr) bool {
	emptied := s.emptied
	s.emptied = false // once for each read
	if emptied && s.unasked > 0 {
		s.unasked--
		return false
	}
	found := s.receiveOn(fd)
	switch {
	case !emptied: // it has waited, or knows nothing of what there is
	case found:
		s.spare = 0
	default:
		s.spare = min(2*s.spare+1, spareMost)
		s.unasked = s.spare
	}
	return found
}

// read returns besides what Read does when it returned and for how long the
// last of the bytes had lain in the machine, −1 if that is not known.
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

// took returns what receiveOn has read.
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

// readNow is read that does not wait: EAGAIN if there is nothing.
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

// rest waits for d, whatever comes, or until c is closed.
func (s *rawSocket) rest(c net.Conn, d time.Duration) error { return c.(*socket).rest(d) }

// restable reports whether c may be read by readNow.
func restable(c net.Conn) bool {
	_, ok := c.(*socket)
	return ok
}

// waited returns how long ago the kernel stamped what was read. The stamp is of
// the wall clock: where that was set since the read before, it says nothing.
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
	// stepLeast is by how many ns the two clocks must part between two reads, and
	// stepShare by which part of the time between, for the wall clock to have
	// been set. What disciplines it slews by 500 ppm at most (adjtime(3)).
	stepLeast = 100_000
	stepShare = 1000
)

// stampIn finds the time stamp among the control messages (cmsg(3)); 0: there is
// none.
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
	if failed == unix.ENOTCONN { // the other side was sooner
		return nil
	}
	return failed
}
