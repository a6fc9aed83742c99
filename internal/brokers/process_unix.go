//go:build unix && !linux

package brokers

import (
	"os"
	"syscall"
)

// attributes has no word for "die with the parent" here: a frozen broker whose
// parent is killed ends only when somebody lets it continue.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }

func usage(int) (Usage, error) { return Usage{}, ErrUnavailable }
