//go:build !linux

package clock

import "time"

// started is the origin of this process's clock.
var started = time.Now()

// absolute counts ns from the start of this process, plus an hour so that
// instants shortly before the start are positive, too. Other processes do not
// share this clock.
func absolute() int64 { return int64(time.Since(started)) + int64(time.Hour) }

// RawAhead is not available here: width is 0.
func RawAhead() (ahead, width int64) { return 0, 0 }

// Boottime is not available here. It returns Now, so that callers never detect a
// suspension.
func Boottime() int64 { return Now() }
