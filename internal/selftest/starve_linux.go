package selftest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"sixnines/internal/thread"
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

// bind binds all threads of a process to one processor and sets their niceness. Only root
// can lower the niceness again. Threads started meanwhile may be missed.
func bind(pid, processor, niceness int) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	var set unix.CPUSet
	set.Set(processor)
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		err = errors.Join(unix.SchedSetaffinity(id, &set), unix.Setpriority(unix.PRIO_PROCESS, id, niceness))
		if err != nil && !errors.Is(err, unix.ESRCH) { // a thread that has ended
			return err
		}
	}
	return nil
}

// startBound starts a command bound to one processor, with the niceness (0 to
// 19). A new process inherits both from the thread that starts it. That thread
// then ends, because only root could lower its niceness again.
func startBound(c *exec.Cmd, processor, niceness int) error {
	done := make(chan error, 1)
	go func() { // never unlocked: the thread ends with it
		runtime.LockOSThread()
		thread.Reset()
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
