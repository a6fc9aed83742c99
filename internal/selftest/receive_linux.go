package selftest

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitBytes returns nil when a connection has data to read, or has ended, without reading.
func awaitBytes(c net.Conn) error {
	for {
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = inner.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return errNoPeeking
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		var b [1]byte
		for {
			_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if !errors.Is(err, unix.EINTR) {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
}
