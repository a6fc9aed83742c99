package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// space is a network namespace without a name: it lasts as long as the descriptor is open or
// a process is in it.
type space struct{ file *os.File }

const ownSpace = "/proc/thread-self/ns/net"

// newSpace makes a namespace whose loopback interface is up.
func newSpace() (*space, error) {
	var s *space
	err := elsewhere(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() error {
		f, err := os.Open(ownSpace)
		if err != nil {
			return err
		}
		s = &space{f}
		return nil
	})
	if err != nil {
		if s != nil {
			s.close()
		}
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	h, err := s.handle()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(lo)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set loopback up: %w", err), s.close())
	}
	return s, nil
}

func (s *space) fd() int      { return int(s.file.Fd()) }
func (s *space) close() error { return s.file.Close() }

func (s *space) do(f func() error) error {
	return elsewhere(func() error { return unix.Setns(s.fd(), unix.CLONE_NEWNET) }, f)
}

// elsewhere calls enter, which moves this thread to another namespace, then f, and moves the
// thread back. If that fails the thread stays locked, and ends with its goroutine: no other
// may run there.
func elsewhere(enter, f func() error) error {
	runtime.LockOSThread()
	home, err := os.Open(ownSpace)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	if err := enter(); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, fmt.Errorf("leave a network namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}
