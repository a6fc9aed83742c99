package selftest

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// lastProcessor returns a processor that this process may use, the last.
func lastProcessor() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, fmt.Errorf("read the processors allowed: %w", err)
	}
	for cpu := len(set)*64 - 1; cpu >= 0; cpu-- {
		if set.IsSet(cpu) {
			return cpu, nil
		}
	}
	return 0, errors.New("no processor is allowed")
}

// startBound starts a command bound to one processor, with the niceness (0 to
// 19). A new process takes both from the thread that makes it; that thread is
// then ended, for a user who is not root cannot take niceness back.
func startBound(c *exec.Cmd, processor, niceness int) error {
	done := make(chan error, 1)
	go func() { // never unlocked: the thread ends with it
		runtime.LockOSThread()
		var set unix.CPUSet
		set.Set(processor)
		err := unix.SchedSetaffinity(0, &set)
		if err == nil && niceness > 0 {
			err = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness)
		}
		if err == nil {
			err = c.Start()
		}
		done <- err
	}()
	return <-done
}
