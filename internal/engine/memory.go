package engine

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
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
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return heapAtMost
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int64
		if _, err := fmt.Sscanf(strings.TrimSpace(s.Text()), "MemAvailable: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return heapAtMost
}
