package clocksync

import (
	"encoding/binary"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stampSocket is a UDP socket whose frames the kernel stamps, by the wall clock, as they come and as they leave.
type stampSocket struct {
	conn *net.UDPConn
	raw  syscall.RawConn
	buf  [stampSize + 1]byte // one more, to detect a frame that is too long
	oob  [512]byte
}

// stampsExist says whether this system has such sockets.
const stampsExist = true

func newStampSocket(conn *net.UDPConn) (*stampSocket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_TX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	if err == nil {
		err = failed
	}
	return &stampSocket{conn: conn, raw: raw}, err
}

// receive waits for a frame, which is valid until the next call, and returns when it came; 0: the kernel does not say.
func (s *stampSocket) receive() (frame []byte, from netip.AddrPort, stamp int64, err error) {
	n, on, _, from, err := s.conn.ReadMsgUDPAddrPort(s.buf[:], s.oob[:])
	if err != nil {
		return nil, from, 0, err
	}
	return s.buf[:n], from, stampAmong(s.oob[:on]), nil
}

// left calls took with each frame that the kernel has stamped as it left, since the last call. What comes is the whole packet, of which
// the frame is the end: so a stamp is never taken for that of another frame.
func (s *stampSocket) left(took func(packet []byte, stamp int64)) {
	_ = s.raw.Control(func(fd uintptr) { // its error is that of a closed socket
		var packet [stampSize + 256]byte
		var oob [512]byte
		for range stampsAtOnce {
			n, on, _, _, err := unix.Recvmsg(int(fd), packet[:], oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			if err != nil {
				return
			}
			if stamp := stampAmong(oob[:on]); stamp != 0 && n >= stampSize {
				took(packet[n-stampSize:n], stamp)
			}
		}
	})
}

// stampsAtOnce is how many stamps are taken at once: as many as there may be.
const stampsAtOnce = 1024

// stampAmong returns the time stamp among control messages, ns of the wall clock; 0: there is none.
func stampAmong(oob []byte) int64 {
	const size = 16 // of a timespec where a word has 8 bytes: of other machines stamps are not read
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for _, m := range all {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPING && len(m.Data) >= 3*size {
			return int64(binary.NativeEndian.Uint64(m.Data))*int64(time.Second) + int64(binary.NativeEndian.Uint64(m.Data[8:]))
		}
	}
	return 0
}
