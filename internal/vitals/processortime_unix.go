//go:build unix

package vitals

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the processor time, user and system, that this process and
// its ended children have used.
func ProcessorTime() (own, children time.Duration) {
	read := func(who int) time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return 0 // it fails for a wrong argument only
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return read(unix.RUSAGE_SELF), read(unix.RUSAGE_CHILDREN)
}
