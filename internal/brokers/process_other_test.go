//go:build !linux

package brokers

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// children cannot be asked for here.
func children() string { return "" }

// waitGone waits until the process, which is no child of ours, has ended.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return
		}
	}
	t.Fatalf("process %d still lives", pid)
}
