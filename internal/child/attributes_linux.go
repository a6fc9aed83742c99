package child

import "syscall"

func attributes(kill bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if kill {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}
