//go:build unix && !linux

package brokers

import (
	"os"
	"syscall"
)

// attributes has no word for "die with the parent" here: a frozen broker whose
// parent is killed ends only when it is continued.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dieWithParent: there is no such thing here.
func dieWithParent(*syscall.SysProcAttr) {}

// detached is for a process that outlives this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the group that the process leads, helpers of its own among it.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// stopSignal makes a process stand still.
func stopSignal() os.Signal { return syscall.SIGSTOP }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }

func usage(int) (Usage, error) { return Usage{}, ErrUnavailable }
