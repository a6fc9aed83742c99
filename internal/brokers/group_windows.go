package brokers

import (
	"os"
	"syscall"
)

// ownGroup makes a command the leader of a process group.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interruptGroup kills the command: Windows has no signal that asks it to end.
func interruptGroup(p *os.Process) error { return p.Kill() }
