package brokers

import (
	"os"
	"syscall"
)

// ownGroup makes a command the leader of a process group.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interruptGroup ends the command: there is no asking here.
func interruptGroup(p *os.Process) error { return p.Kill() }
