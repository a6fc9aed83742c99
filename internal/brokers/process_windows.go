package brokers

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// dieWithParent: there is no such thing here.
func dieWithParent(*syscall.SysProcAttr) {}

// detached is for a process that outlives this one.
func detached() *syscall.SysProcAttr { return attributes() }

func killGroup(*os.Process) {}

func terminate(*os.Process) error { return ErrUnavailable }
func freeze(*os.Process) error    { return ErrUnavailable }
func thaw(*os.Process) error      { return ErrUnavailable }

// awaitFrozen does nothing here: the system does not show the states of threads.
func awaitFrozen(*os.Process) error { return nil }

// stopSignal pauses a process; Windows has none.
func stopSignal() os.Signal { return os.Kill }

func usage(int) (Usage, error) { return Usage{}, ErrUnavailable }
