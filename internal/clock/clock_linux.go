package clock

import "golang.org/x/sys/unix"

// absolute reads CLOCK_MONOTONIC by a system call.
func absolute() int64 { return read(unix.CLOCK_MONOTONIC) }

// Boottime returns the nanoseconds on CLOCK_BOOTTIME, which unlike
// CLOCK_MONOTONIC goes on while the machine is suspended: a growing difference
// between the two is time spent asleep. A system call.
func Boottime() int64 { return read(unix.CLOCK_BOOTTIME) }

// read returns a clock that every supported kernel has, so there is no error
// to return.
func read(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic("clock: clock_gettime: " + err.Error())
	}
	return ts.Nano()
}
