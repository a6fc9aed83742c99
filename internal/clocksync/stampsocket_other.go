//go:build !linux

package clocksync

import (
	"net"
	"net/netip"
)

// stampSocket is a UDP socket without stamps.
type stampSocket struct {
	conn *net.UDPConn
	buf  [stampSize + 1]byte // one more, to detect a frame that is too long
}

// stampsExist says whether this system has sockets whose frames the kernel stamps.
const stampsExist = false

func newStampSocket(conn *net.UDPConn) (*stampSocket, error) { return &stampSocket{conn: conn}, nil }

func (s *stampSocket) receive() (frame []byte, from netip.AddrPort, stamp int64, err error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(s.buf[:])
	return s.buf[:n], from, 0, err
}

func (*stampSocket) left(func([]byte, int64)) {}
