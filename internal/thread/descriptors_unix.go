//go:build unix

package thread

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SealDescriptors marks all descriptors above standard error close-on-exec, so that programs
// started by this process do not inherit those that it inherited itself. A broker that
// outlives its caller would otherwise keep the caller's locks, pipes and sockets open. Go
// marks its own descriptors anyway. Call it before starting another program.
func SealDescriptors() {
	const first = 3
	if sealFrom(first) {
		return
	}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // they cannot be listed
	}
	for _, d := range open {
		if n, err := strconv.Atoi(d.Name()); err == nil && n >= first {
			unix.CloseOnExec(n)
		}
	}
}
