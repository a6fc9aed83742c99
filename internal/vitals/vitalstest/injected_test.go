package vitalstest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRunnable(t *testing.T) {
	if n, err := runnable("cpu 1 2\nprocesses 7\nprocs_running 12\nprocs_blocked 3\n"); n != 12 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := runnable("cpu 1 2\n"); err == nil {
		t.Error("no number is no error")
	}
}

// What is complained of once is tried again, and what is not complained of is tried once.
func TestInjectedTriesAgain(t *testing.T) {
	n := 0
	Injected(t, func() string {
		if n++; n == 1 {
			return "another program was in the way"
		}
		return ""
	})
	if n != 2 {
		t.Errorf("tried %d times", n)
	}
}

// What is skipped is noted, one line each, where CI collects it.
func TestSkipsAreNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skipped")
	for _, line := range []string{"TestA: busy\nand busy", "TestB: busy"} {
		if err := note(path, line); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "TestA: busy and busy\nTestB: busy\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := note("", "TestA: nobody collects"); err != nil {
		t.Error(err)
	}
}
