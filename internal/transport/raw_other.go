//go:build !linux

package transport

import (
	"errors"
	"net"
	"syscall"
	"time"

	"sixnines/internal/clock"
)

// rawSocket is Linux's only.
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

// restable: Linux's only.
func restable(net.Conn) bool { return false }

// shut ends both directions of a connection.
func shut(c net.Conn) error {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c.Close()
	}
	return errors.Join(t.CloseRead(), t.CloseWrite())
}

// threadsMost: Linux's only.
const threadsMost = 0

// ownWait is Linux's only.
func ownWait(c net.Conn) net.Conn { return c }
