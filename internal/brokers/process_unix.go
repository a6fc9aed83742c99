//go:build unix && !linux

package brokers

import (
	"os"
	"syscall"
)

// attributes cannot make a process die with its parent here: a frozen broker whose
// parent is killed ends only when it is continued.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dieWithParent does nothing here: the system does not support it.
func dieWithParent(*syscall.SysProcAttr) {}

// detached is for a process that outlives this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the group that the process leads, helpers of its own among it.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// stopSignal is the signal that stops a process until SIGCONT.
func stopSignal() os.Signal { return syscall.SIGSTOP }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }

// awaitFrozen does nothing here: the system does not show the states of threads.
func awaitFrozen(*os.Process) error { return nil }

func usage(int) (Usage, error) { return Usage{}, ErrUnavailable }
