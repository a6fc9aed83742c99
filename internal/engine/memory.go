package engine

import (
	"runtime"
	"runtime/debug"

	"sixnines/internal/vitals"
)

// collectorHeld keeps Go's garbage collector out of the measured window: it
// runs once before, and afterwards only when the heap reaches a fixed limit, an
// eighth of the memory available but at most 2 GiB. A short run never gets
// there; in a long one cycles are rare, and their number is part of the result.
type collectorHeld struct {
	percent int
	limit   int64
	Limit   int64 // of the heap while held, in bytes
}

const (
	heapAtMost  = 2 << 30
	heapAtLeast = 128 << 20
)

func holdCollector() *collectorHeld {
	runtime.GC()
	limit := min(max(availableMemory()/8, heapAtLeast), heapAtMost)
	h := &collectorHeld{Limit: limit}
	h.percent = debug.SetGCPercent(-1)
	h.limit = debug.SetMemoryLimit(limit)
	return h
}

func (h *collectorHeld) release() {
	debug.SetGCPercent(h.percent)
	debug.SetMemoryLimit(h.limit)
}

// availableMemory returns the memory that can be had without swapping, in
// bytes, or heapAtMost where the system does not tell.
func availableMemory() int64 {
	if bytes, ok := vitals.MemoryAvailable(); ok {
		return bytes
	}
	return heapAtMost
}
