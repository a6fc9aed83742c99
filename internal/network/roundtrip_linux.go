package network

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// kernelRoundTrip returns the round trip of the handshake as the kernel measured it; 0: it does not say. Waking this program
// up is no part of it.
func kernelRoundTrip(c *net.TCPConn) (took time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil && info.Rtt > 0 {
			took = time.Duration(info.Rtt) * time.Microsecond
		}
	})
	return took
}
