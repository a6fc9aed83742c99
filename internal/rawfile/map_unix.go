//go:build unix

package rawfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the file's first size bytes for writing.
func mapFile(f *os.File, size int64) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return b, nil
}

// unmapFile ends a mapping; it does nothing for nil.
func unmapFile(b []byte) error {
	if b == nil {
		return nil
	}
	return os.NewSyscallError("munmap", unix.Munmap(b))
}
