//go:build linux

// Package threadtest schedules the threads of a test's process as a run leaves them.
package threadtest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
)

// Shorten gives 64 threads a short slice and the least timer slack, and then unlocks them, so
// that the runtime reuses them for other goroutines.
func Shorten(t testing.TB) {
	t.Helper()
	const threads = 64
	var all, ends sync.WaitGroup
	all.Add(threads)
	for range threads {
		ends.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			thread.ShortenSlice()
			if err := clock.SetTimerSlack(1); err != nil {
				t.Error(err)
			}
			all.Done()
			all.Wait() // so that each has a thread of its own
		})
	}
	ends.Wait()
}

// Scheduling returns how a process is scheduled: policy, nice value, slice in ns (0: the
// kernel does not report it) and timer slack in ns.
func Scheduling(t testing.TB, pid int) string {
	t.Helper()
	attr, err := unix.SchedGetAttr(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	slack, err := os.ReadFile(fmt.Sprintf("/proc/%d/timerslack_ns", pid))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("policy %d, nice %d, slice %d, slack %s", attr.Policy, attr.Nice, attr.Runtime, strings.TrimSpace(string(slack)))
}
