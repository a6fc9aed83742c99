package brokers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"sixnines/internal/spell"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// dieWithParent has the process killed when this one ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// detached is for a process that outlives this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the group that the process leads, helpers of its own among it.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// stopSignal is the signal that stops a process until SIGCONT.
func stopSignal() os.Signal { return syscall.SIGSTOP }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }

// restLimit is how long the threads of a process may take to stop after
// SIGSTOP. Usually it takes microseconds; a thread that waits for a disk takes longer.
const restLimit = 10 * time.Second

// awaitFrozen returns when all threads have stopped: SIGSTOP only asks them to. If they do not,
// the process is continued.
func awaitFrozen(p *os.Process) error {
	limit := time.NewTimer(restLimit)
	defer limit.Stop()
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for {
		atRest, err := stopped(p.Pid)
		if err != nil || atRest {
			return err
		}
		select {
		case <-look.C:
		case <-limit.C:
			p.Signal(syscall.SIGCONT)
			return fmt.Errorf("it is still running %s after SIGSTOP, so something continued it, perhaps a debugger that traces it", spell.Period(restLimit))
		}
	}
}

// stopped reports whether every thread of the process has stopped.
func stopped(pid int) (bool, error) {
	tasks := fmt.Sprintf("/proc/%d/task/", pid)
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(tasks + thread.Name() + "/stat")
		if err != nil {
			// The thread, or the process and with it the directory, has ended.
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
				return false, nil
			}
			return false, err
		}
		s, err := parseStat(text)
		if err != nil {
			return false, err
		}
		switch s.state {
		case 'T':
		case 'Z', 'X':
			return false, os.ErrProcessDone
		default:
			return false, nil
		}
	}
	return true, nil
}

func usage(pid int) (Usage, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	s, err := parseStat(text)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{
		UserCPU: time.Duration(s.user) * clockTick,
		SysCPU:  time.Duration(s.system) * clockTick,
		RSS:     s.pages * int64(os.Getpagesize()),
		Threads: int(s.threads),
	}
	u.ReadBytes, u.WriteBytes = storage(pid)
	return u, nil
}

// storage returns how many bytes the process made the disks read and write; -1 if the
// kernel does not count that, or does not permit us to read it.
func storage(pid int) (read, write int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return -1, -1
	}
	return field(text, "read_bytes"), field(text, "write_bytes")
}

// field returns the number on the line that begins with name and a colon, else -1.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// clockTick is the unit of processor times in /proc: USER_HZ is 100 on every
// architecture that Go runs on, whatever the kernel's own HZ.
const clockTick = 10 * time.Millisecond

// stat has the fields of /proc/PID/stat that are used here, see proc_pid_stat(5).
type stat struct {
	state        byte  // R running, T stopped, Z zombie, …
	user, system int64 // processor time in ticks
	threads      int64
	pages        int64 // resident memory
}

// parseStat reads /proc/PID/stat.
func parseStat(text []byte) (stat, error) {
	// The second field is the program's name in parentheses, which may itself
	// hold spaces and parentheses.
	end := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[end+1:])
	// fields[0] is the third of the manual page, so the n-th is fields[n-3].
	if end < 0 || len(fields) < 24-2 || len(fields[0]) != 1 {
		return stat{}, fmt.Errorf("%q is not the content of a /proc/PID/stat", text)
	}
	s := stat{state: fields[0][0]}
	for _, f := range []struct {
		number int
		into   *int64
	}{{14, &s.user}, {15, &s.system}, {20, &s.threads}, {24, &s.pages}} {
		n, err := strconv.ParseInt(string(fields[f.number-3]), 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("field %d of /proc/PID/stat: %w", f.number, err)
		}
		*f.into = n
	}
	return s, nil
}
