// Package process changes what a process has one of, for its runs: Go's garbage collector and the
// number of processors.
package process

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// before is how the process was before its runs changed it. It is a package variable because Go's
// runtime has one collector and one GOMAXPROCS for all runs, which know nothing of each other: if
// each set back what it had found, of two that overlap the later one would leave the collector off
// for good, and the earlier one would take the other's processors away. The first Hold notes how
// they were, and the last Release sets them back.
var before struct {
	mu      sync.Mutex // guards the rest, and the changes themselves
	holders int        // runs and collectors that have not released it
	procs   int
	percent int   // of the collector
	limit   int64 // bytes
}

// Hold notes how the process is, unless another holder has done so. Each Hold needs one Release. Both
// are safe for concurrent use, as SetProcessors is.
func Hold() {
	before.mu.Lock()
	defer before.mu.Unlock()
	if before.holders++; before.holders > 1 {
		return
	}
	before.procs = runtime.GOMAXPROCS(0)
	before.percent = debug.SetGCPercent(-1)
	debug.SetGCPercent(before.percent)
	before.limit = debug.SetMemoryLimit(-1) // which changes nothing
}

// Release sets the process back to how it was before the first Hold, if this was the last holder.
func Release() {
	before.mu.Lock()
	defer before.mu.Unlock()
	if before.holders--; before.holders > 0 {
		return
	}
	runtime.GOMAXPROCS(before.procs)
	debug.SetGCPercent(before.percent)
	debug.SetMemoryLimit(before.limit)
}

// limitBefore returns the memory limit, in bytes, that the process had before the first Hold.
func limitBefore() int64 {
	before.mu.Lock()
	defer before.mu.Unlock()
	return before.limit
}

// SetProcessors sets GOMAXPROCS. With other holders it only raises it, so that where runs overlap the
// largest number holds. The caller has called Hold.
func SetProcessors(to int) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if before.holders > 1 {
		to = max(to, runtime.GOMAXPROCS(0))
	}
	runtime.GOMAXPROCS(to)
}
