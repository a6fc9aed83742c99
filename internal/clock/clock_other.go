//go:build !linux

package clock

import "time"

// started gives the process an origin of its own.
var started = time.Now()

// absolute has no clock to share with other processes: it counts from an
// instant of this process, well above zero so that differences with earlier
// instants stay positive.
func absolute() int64 { return int64(time.Since(started)) + int64(time.Hour) }

// Boottime is not available here: it returns Now, so that no suspension is
// ever seen.
func Boottime() int64 { return Now() }
