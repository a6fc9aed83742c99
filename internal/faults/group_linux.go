package faults

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group, so that signals of the terminal are not for it, and has the kernel kill it when this
// process ends.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills the process and those that it has started.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
