// Package vitalstest is for tests that inject a disturbance on this machine and check that
// it is named as the cause.
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
