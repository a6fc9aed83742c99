//go:build !linux && !windows

package child

import "syscall"

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
