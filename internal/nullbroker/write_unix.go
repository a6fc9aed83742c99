//go:build unix

package nullbroker

import "syscall"

// writeNow writes as much of p as the socket takes without waiting. An error is
// left to the next write that may wait, which meets it again.
func writeNow(raw syscall.RawConn, p []byte) (written int) {
	_ = raw.Write(func(fd uintptr) bool {
		for written < len(p) {
			n, err := syscall.Write(int(fd), p[written:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil || n <= 0 {
				break
			}
			written += n
		}
		return true // never wait
	})
	return written
}
