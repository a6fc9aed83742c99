//go:build !linux

package clocksync

import (
	"errors"
	"net"
	"net/netip"
)

// stampSocket does not exist here.
type stampSocket struct{ conn *net.UDPConn }

// stampsExist says that this system has such sockets.
const stampsExist = false

func newStampSocket(*net.UDPConn) (*stampSocket, error) { return nil, errors.ErrUnsupported }

func (*stampSocket) receive() (frame []byte, from netip.AddrPort, stamp int64, err error) {
	return nil, netip.AddrPort{}, 0, errors.ErrUnsupported
}

func (*stampSocket) left(func([]byte, int64)) {}
