//go:build race && linux

package transport

import (
	"runtime"
	"unsafe"
)

// ioSync stands for whatever lies between a write and a read that follows from
// it, for the race detector: package syscall has the like for its own calls, which
// this package goes round.
var ioSync byte

// written says that what was done so far comes before what follows from a write.
func written() { runtime.RaceReleaseMerge(unsafe.Pointer(&ioSync)) }

// received says that what follows comes after what led to what was read.
func received() { runtime.RaceAcquire(unsafe.Pointer(&ioSync)) }
