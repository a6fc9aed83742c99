package main

import (
	"os"
	"syscall"
)

// changeRoot has a program see dir as its root directory, where this user may.
func changeRoot(dir string) *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Chroot: dir}
}
