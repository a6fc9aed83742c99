//go:build unix

package thread

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SealDescriptors has no program that this process starts inherit a descriptor that this
// process was itself given, but for standard input, output and error: a broker that
// outlives its caller would hold the caller's locks, pipes and sockets as long as it
// lives. Go's own descriptors are closed anyway. Whoever starts another program calls it
// before.
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
