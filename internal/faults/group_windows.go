package faults

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group, so that signals of the console are not for it.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills the process. Those that it has started go on.
func killGroup(p *os.Process) error { return p.Kill() }
