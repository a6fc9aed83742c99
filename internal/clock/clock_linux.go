package clock

import "golang.org/x/sys/unix"

// absolute reads CLOCK_MONOTONIC by a system call.
func absolute() int64 { return read(unix.CLOCK_MONOTONIC) }

// Boottime returns the nanoseconds on CLOCK_BOOTTIME, which unlike
// CLOCK_MONOTONIC also counts while the machine is suspended: growth of the
// difference between the two is time spent suspended. It is a system call.
func Boottime() int64 { return read(unix.CLOCK_BOOTTIME) }

// RawAhead returns how far CLOCK_MONOTONIC_RAW, which is never slewed, is ahead of [Now], ns, and the width of the bracket in which
// both were read: the error is at most half of it. It takes a few system calls.
func RawAhead() (ahead, width int64) {
	for range 3 { // the narrowest had no interruption
		before := Now()
		raw := read(unix.CLOCK_MONOTONIC_RAW)
		after := Now()
		if w := max(after-before, 1); width == 0 || w < width {
			ahead, width = raw-before-w/2, w
		}
	}
	return ahead, width
}

// read reads a clock that every supported kernel has; it panics on an error.
func read(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic("clock: clock_gettime: " + err.Error())
	}
	return ts.Nano()
}
