package engine

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// threadTime tells of the calling thread how long it has run or waited for a
// processor, in ns: the time in which nobody else held it up. It belongs to one
// locked thread.
type threadTime struct {
	file *os.File // schedstat; nil: the kernel has none
	buf  [96]byte
}

func (t *threadTime) open() {
	// The second number is the time spent waiting on a run queue
	// (Documentation/scheduler/sched-stats.rst).
	t.file, _ = os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", unix.Gettid()))
}

func (t *threadTime) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// awake returns the sum so far; ok is false where the kernel does not tell.
func (t *threadTime) awake() (ns int64, ok bool) {
	if t.file == nil {
		return 0, false
	}
	// The first number of schedstat is as old as the last tick; this clock is not.
	var ran unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ran) != nil {
		return 0, false
	}
	n, err := t.file.ReadAt(t.buf[:], 0)
	if n == 0 && err != nil {
		return 0, false
	}
	waited, ok := secondNumber(t.buf[:n])
	return ran.Nano() + waited, ok
}

// secondNumber reads the second of some numbers with spaces between them.
func secondNumber(line []byte) (int64, bool) {
	from := 0
	for from < len(line) && line[from] != ' ' {
		from++
	}
	to := from + 1
	for to < len(line) && line[to] != ' ' {
		to++
	}
	if to > len(line) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(line[from+1:to]), 10, 64)
	return n, err == nil
}
