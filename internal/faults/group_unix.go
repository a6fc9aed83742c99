//go:build unix && !linux

package faults

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group, so that signals of the terminal are not for it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process and those that it has started.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
