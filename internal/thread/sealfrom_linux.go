package thread

import (
	"math"

	"golang.org/x/sys/unix"
)

// sealFrom reports whether the kernel (5.11 or later) has sealed all descriptors from
// the first on.
func sealFrom(first uint) bool {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil
}
