package engine

import "golang.org/x/sys/unix"

// lowerPriority makes the calling thread yield to others: encoding a second's
// histograms can wait, messages cannot. Without the right to do so nothing
// changes.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10) }
