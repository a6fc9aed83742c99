package watch

import (
	"syscall"

	"golang.org/x/sys/unix"

	"sixnines/internal/transport"
)

// readTCP asks the kernel about a connection (TCP_INFO, tcp(7)).
func readTCP(c *transport.Conn) (out tcpInfo, ok bool) {
	s, ok := c.NetConn().(syscall.Conn)
	if !ok {
		return tcpInfo{}, false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return tcpInfo{}, false
	}
	var info *unix.TCPInfo
	var asked error
	if err := raw.Control(func(fd uintptr) {
		info, asked = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); err != nil || asked != nil {
		return tcpInfo{}, false // closed meanwhile, or no TCP
	}
	return tcpInfo{retransmitted: info.Total_retrans, rtt: int64(info.Rtt) * 1000}, true
}
