package thread

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// IdleProcess has all threads of this process run only while no other thread wants the
// processor (SCHED_IDLE, which needs no privilege), and those that they start later. A thread
// that wakes takes the processor from them at once. What the kernel refuses stays as it is.
func IdleProcess() {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		}
	}
}
