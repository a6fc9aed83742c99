//go:build unix

package journal

import (
	"os"
	"syscall"
)

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
