//go:build !linux

package transport

import (
	"errors"
	"net"
	"syscall"
	"time"

	"sixnines/internal/clock"
)

// rawSocket exists on Linux only; here newRawSocket returns nil.
type rawSocket struct{ stamped bool }

func newRawSocket(net.Conn) *rawSocket { return nil }

func (*rawSocket) write(c net.Conn, p []byte) (int, error) { return c.Write(p) }

func (*rawSocket) read(c net.Conn, p []byte) (n int, now, waited int64, err error) {
	n, err = c.Read(p)
	return n, clock.Now(), -1, err
}

func (*rawSocket) readNow(c net.Conn, p []byte) (n int, now, waited int64, err error) {
	return 0, 0, -1, syscall.EAGAIN
}

func (*rawSocket) rest(net.Conn, time.Duration) error { return net.ErrClosed }

// restable is always false outside Linux.
func restable(net.Conn) bool { return false }

// shut ends both directions of a connection.
func shut(c net.Conn) error {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c.Close()
	}
	return errors.Join(t.CloseRead(), t.CloseWrite())
}

// threadsMost is 0 outside Linux: no reader waits in the kernel on its own thread.
const threadsMost = 0

// ownWait returns c unchanged outside Linux.
func ownWait(c net.Conn) net.Conn { return c }
