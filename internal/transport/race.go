//go:build race && linux

package transport

import (
	"runtime"
	"unsafe"
)

// ioSync is the race detector's synchronisation point between a write and the
// read that it causes. Package syscall has the same for its own system calls,
// which this package bypasses.
var ioSync byte

// written marks that everything so far happens before a read of the data written next.
func written() { runtime.RaceReleaseMerge(unsafe.Pointer(&ioSync)) }

// received marks that everything after it happens after the writes that led to the read.
func received() { runtime.RaceAcquire(unsafe.Pointer(&ioSync)) }
