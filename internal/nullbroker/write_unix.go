//go:build unix

package nullbroker

import "syscall"

// attempt writes as much as a socket takes without waiting. An error is left to
// the next write that may wait, which meets it again. It is kept with the socket,
// so that a write makes no closure.
type attempt struct {
	raw syscall.RawConn
	p   []byte
	n   int
	try func(fd uintptr) bool
}

func newAttempt(raw syscall.RawConn) *attempt {
	a := &attempt{raw: raw}
	a.try = func(fd uintptr) bool {
		for a.n < len(a.p) {
			n, err := syscall.Write(int(fd), a.p[a.n:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil || n <= 0 {
				break
			}
			a.n += n
		}
		return true // never wait
	}
	return a
}

// write returns how much of p it has written.
func (a *attempt) write(p []byte) int {
	a.p, a.n = p, 0
	_ = a.raw.Write(a.try)
	a.p = nil
	return a.n
}
