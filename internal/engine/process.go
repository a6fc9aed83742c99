package engine

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// process is how the process was before its runs changed it. A process has one collector
// and one number of processors for all of its runs: the first change notes how they were, and
// the last run that ends sets them back. If each run set back what it had found, of two that
// overlap the later one would leave the collector off for good, and the earlier one would
// take the other's processors away.
var process struct {
	mu      sync.Mutex
	holders int
	procs   int
	percent int   // of the collector
	limit   int64 // bytes
}

// holdProcess notes how the process is, if nobody else has changed it.
func holdProcess() {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.holders++; process.holders > 1 {
		return
	}
	process.procs = runtime.GOMAXPROCS(0)
	process.percent = debug.SetGCPercent(-1)
	debug.SetGCPercent(process.percent)
	process.limit = debug.SetMemoryLimit(-1) // which changes nothing
}

// releaseProcess sets the process back to how it was, if nobody else holds it.
func releaseProcess() {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.holders--; process.holders > 0 {
		return
	}
	runtime.GOMAXPROCS(process.procs)
	debug.SetGCPercent(process.percent)
	debug.SetMemoryLimit(process.limit)
}

// setProcs sets how many goroutines may run at once; where runs overlap it is the most that
// one of them asks for.
func setProcs(to int) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.holders > 1 {
		to = max(to, runtime.GOMAXPROCS(0))
	}
	runtime.GOMAXPROCS(to)
}
