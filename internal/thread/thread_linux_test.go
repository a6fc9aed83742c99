package thread_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
	"sixnines/internal/thread/threadtest"
)

func TestReset(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends
	id := unix.Gettid()
	begun := threadtest.Scheduling(t, id)
	for _, tt := range []struct {
		what   string
		change func()
	}{
		{"a short slice", thread.ShortenSlice},
		{"slack", func() { _ = clock.SetTimerSlack(1) }},
		{"lower", thread.Lower}, // last: see below
	} {
		what := tt.what
		tt.change()
		if s := threadtest.Scheduling(t, id); s == begun && (what != "a short slice" || !strings.Contains(s, "slice 0,")) { // before Linux 6.12 there is none
			t.Errorf("%s changes nothing: %s", what, s)
		}
		if what == "lower" && os.Getuid() != 0 {
			t.Skip("only root may raise what was lowered")
		}
		thread.Reset()
		if s := threadtest.Scheduling(t, id); s != begun {
			t.Errorf("%s, and reset: %s; the process began with %s", what, s, begun)
		}
	}
}

// A reader's slice is short wherever its goroutine runs.
func TestReader(t *testing.T) {
	runtime.LockOSThread()
	thread.ShortenSlice()
	short := threadtest.Scheduling(t, unix.Gettid())
	var r thread.Reader
	for range 3 {
		done := make(chan string)
		go func() {
			runtime.LockOSThread() // never unlocked: the next is on another thread
			for range 100 {
				r.ShortenSlice()
			}
			done <- threadtest.Scheduling(t, unix.Gettid())
		}()
		if s := <-done; s != short {
			t.Fatalf("a reader has %s, who asks for a short slice %s", s, short)
		}
	}
}

// Without Reset a program inherits the settings of the thread that starts it.
func TestInherited(t *testing.T) {
	runtime.LockOSThread()
	thread.ShortenSlice()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	if its, ours := threadtest.Scheduling(t, c.Process.Pid), threadtest.Scheduling(t, unix.Gettid()); its != ours {
		t.Errorf("the program has %s, the thread %s", its, ours)
	}
}
