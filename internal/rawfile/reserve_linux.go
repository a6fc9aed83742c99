package rawfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve sets the file's length and allocates its disk space: with a hole in the file, a
// store into the mapping would kill the process (SIGBUS) when the disk is full.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fillZeros(f, size)
	}
	return os.NewSyscallError("fallocate", err)
}
