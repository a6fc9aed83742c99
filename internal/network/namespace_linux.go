package network

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// enter moves the calling thread, which must be locked, into a network namespace; empty: it stays.
func enter(namespace string) error {
	if namespace == "" {
		return nil
	}
	fd, err := unix.Open(namespace, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the network namespace %s: %w", namespace, err)
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace %s: %w", namespace, err)
	}
	return nil
}

// inside calls do in a network namespace. It does so on a thread that ends then, since a thread that cannot
// come back would spoil what runs on it later.
func inside(namespace string, do func() error) error {
	if namespace == "" {
		return do()
	}
	return apart(func() error {
		if err := enter(namespace); err != nil {
			return err
		}
		return do()
	})
}

// apart calls do on a thread of its own, which ends then.
func apart(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		done <- do()
	}()
	return <-done
}
