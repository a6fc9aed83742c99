// Package vitalstest is for tests that inject a disturbance on this machine and check that
// it is named as the cause.
package vitalstest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const tries = 3

// Injected calls try up to three times until it has no complaint. If the machine was
// oversubscribed before each try, other programs are a second cause beside the injected one,
// and the test is skipped. Otherwise the last complaint fails it.
func Injected(t *testing.T, try func() (complaint string)) {
	t.Helper()
	busy, complaint := 0, ""
	for range tries {
		if Oversubscribed(t) {
			busy++
		}
		if complaint = try(); complaint == "" {
			return
		}
		t.Log(complaint)
	}
	if busy == tries {
		why := "other programs used all processors before each attempt: " + complaint
		if err := note(os.Getenv("SIXNINES_SKIPPED"), t.Name()+": "+why); err != nil {
			t.Fatal(err)
		}
		t.Skip("SKIPPED:", why)
	}
	t.Error(complaint)
}

// note appends a line to the file in which .ci/gotest collects what was skipped, since go test
// does not show it. An empty path is for tests that are run otherwise.
func note(path, line string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
	return errors.Join(err, f.Close())
}

// Oversubscribed reports whether more threads of other programs than there are processors
// were ready to run at each of ten readings in a tenth of a second.
func Oversubscribed(t *testing.T) bool {
	t.Helper()
	if runtime.GOOS != "linux" {
		return false
	}
	for range 10 {
		text, err := os.ReadFile("/proc/stat")
		if err != nil {
			t.Fatal(err)
		}
		n, err := runnable(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if n-1 <= runtime.NumCPU() { // but for the one that reads
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// runnable reads how many threads have a processor or wait for one.
func runnable(stat string) (n int, err error) {
	_, after, _ := strings.Cut(stat, "\nprocs_running ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		return 0, fmt.Errorf("/proc/stat: no procs_running: %w", err)
	}
	return n, nil
}
