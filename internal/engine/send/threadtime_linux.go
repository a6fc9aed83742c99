package send

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// threadTime tells how long a thread of this process has run and how long it has waited for a
// processor, in ns since it began. It is not safe for concurrent use.
type threadTime struct {
	file *os.File // schedstat; nil: the kernel has none
	buf  [96]byte
}

// threadID numbers the calling thread, for openThread.
func threadID() int64 { return int64(unix.Gettid()) }

// openThread opens the times of a thread of this process. Where the kernel has none, read is not ok.
func openThread(id int64) threadTime {
	// Two of its numbers are the time on a processor and the time waiting on a run
	// queue (Documentation/scheduler/sched-stats.rst).
	f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", id))
	if err != nil {
		return threadTime{}
	}
	return threadTime{file: f}
}

func (t *threadTime) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// read returns both times so far. Of a thread that is running they are as old as
// the last tick. ok is false where the kernel does not tell.
func (t *threadTime) read() (ran, waited int64, ok bool) {
	if t.file == nil {
		return 0, 0, false
	}
	n, err := t.file.ReadAt(t.buf[:], 0)
	if n == 0 && err != nil {
		return 0, 0, false
	}
	line := t.buf[:n]
	if ran, line, ok = number(line); ok {
		waited, _, ok = number(line)
	}
	return ran, waited, ok
}

// own is read for the calling thread, which must be t's: the time that it has run is exact, and not as
// old as the last tick.
func (t *threadTime) own() (ran, waited int64, ok bool) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) != nil {
		return 0, 0, false
	}
	_, waited, ok = t.read()
	return now.Nano(), waited, ok
}

// number reads the number that line begins with, and returns what comes after the
// space behind it.
func number(line []byte) (n int64, rest []byte, ok bool) {
	end := 0
	for end < len(line) && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(line[:end]), 10, 64)
	return n, line[min(end+1, len(line)):], err == nil
}
