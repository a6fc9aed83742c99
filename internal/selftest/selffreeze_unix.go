//go:build unix

package selftest

import (
	"os"
	"syscall"
)

// suspend stops a process at once; resume lets it go on.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
