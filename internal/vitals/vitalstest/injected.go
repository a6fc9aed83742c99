// Package vitalstest is for tests that have something go wrong on this machine, and look
// whether it is named as the cause.
package vitalstest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const tries = 3

// Injected calls try until it has no complaint. Where other programs wanted more processors
// than there are before each try, they are a cause beside the one that try injects: the test
// is skipped, since its complaint says nothing. Else the last complaint fails it.
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
		t.Skip("SKIPPED: other programs wanted all processors before each try:", complaint)
	}
	t.Error(complaint)
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
