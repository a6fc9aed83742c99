package vitalstest

import "testing"

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
