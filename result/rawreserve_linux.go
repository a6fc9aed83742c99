package result

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve gives the file its length and its place on the disk: a store into a
// mapped hole of a full disk would kill the process (SIGBUS).
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fillZeros(f, size)
	}
	return os.NewSyscallError("fallocate", err)
}
