//go:build unix

package brokers

import (
	"os"
	"syscall"
)

// ownGroup makes a command the leader of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// interruptGroup asks all processes of a command to end.
func interruptGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }
