package vitals

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// counterFile is a file of counters that stays open and is read again from its
// beginning. It bypasses package os, which would register some of these files
// (pressure, control groups) with the runtime's poller.
type counterFile struct {
	path   string
	fd     int
	buffer []byte
}

func openCounters(path string) (*counterFile, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := &counterFile{path: path, fd: fd, buffer: make([]byte, 4096)}
	if _, err := f.read(); err != nil { // some open and cannot be read
		f.close()
		return nil, err
	}
	return f, nil
}

// read returns the whole content, valid until the next call.
func (f *counterFile) read() ([]byte, error) {
	n := 0
	for {
		got, err := unix.Pread(f.fd, f.buffer[n:], int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.path, err)
		case got == 0:
			return f.buffer[:n], nil
		}
		if n += got; n == len(f.buffer) {
			f.buffer = append(f.buffer, make([]byte, len(f.buffer))...)
		}
	}
}

// prefix returns the beginning of the content, as much as one read of the
// buffer's size gives, valid until the next call.
func (f *counterFile) prefix() ([]byte, error) {
	for {
		n, err := unix.Pread(f.fd, f.buffer, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.path, err)
		}
		return f.buffer[:n], nil
	}
}

func (f *counterFile) close() { unix.Close(f.fd) }

// malformed is the error of a file that does not have the expected content.
func (f *counterFile) malformed(want string) error {
	return fmt.Errorf("%s: no %s in it", f.path, want)
}
