package brokers

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func terminate(*os.Process) error { return ErrUnavailable }
func freeze(*os.Process) error    { return ErrUnavailable }
func thaw(*os.Process) error      { return ErrUnavailable }

func usage(int) (Usage, error) { return Usage{}, ErrUnavailable }
