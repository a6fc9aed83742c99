package process

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/vitals"
)

// Collector keeps Go's garbage collector out of the measured window: it
// runs once before, and in the first minute only where the process has grown by an
// eighth of the memory available, 128 MiB to 2 GiB. From then on the limit is what the
// heap has come to: the process grows no further, however long the run
// is, and a client that makes garbage has it collected about once a minute. The
// number of cycles is part of the result.
//
// A Collector belongs to one goroutine at a time: the run's makes and releases it, and the run's
// collector of intervals polls it in between.
type Collector struct {
	live  uint64 // bytes, after the collection before the window
	since int64  // when that was, CLOCK_MONOTONIC: the minute counts from it
	fixed bool   // the limit is what the heap had come to
}

const (
	// growAtMost and growAtLeast are by how many bytes the process may grow in the first minute.
	growAtMost  = 2 << 30
	growAtLeast = 128 << 20
	// heapLeast is the least garbage that may accumulate between collections, and
	// heapMinute the time after which the limit is what the heap has come to.
	heapLeast  = 8 << 20
	heapMinute = time.Minute
)

// HoldCollector collects garbage once and holds the collector until Release.
func HoldCollector() *Collector {
	Hold()
	runtime.GC()
	h := &Collector{live: heapBytes("/gc/heap/live:bytes"), since: clock.Now()}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit(heapBytes("/memory/classes/total:bytes")-heapBytes("/memory/classes/heap/released:bytes"), availableMemory()))
	return h
}

// memoryLimit returns the limit for a process, in bytes. What it has occupied includes the
// payloads and slots of the run; available is what the machine can still give it. A limit
// below what is live would have the collector run without a pause.
func memoryLimit(occupied uint64, available int64) int64 {
	return int64(occupied) + min(max(available/8, growAtLeast), growAtMost)
}

// Poll lets the heap grow no further when its minute is over at now, CLOCK_MONOTONIC.
func (h *Collector) Poll(now int64) {
	if !h.fixed && now-h.since >= int64(heapMinute) {
		h.fix()
	}
}

// fix has the collector run whenever the heap is as large as it is now. The limit is
// set as a share of the live heap: so it rises where that grows, and the collector never
// runs all the time. The limit of the first minute would not rise: it is taken back.
func (h *Collector) fix() {
	h.fixed = true
	debug.SetMemoryLimit(limitBefore())
	most := max(heapBytes("/memory/classes/heap/objects:bytes"), h.live+heapLeast)
	// The heap may grow by the share of what is live and scanned, and to the share of
	// 4 MiB at least (runtime.heapMinimum).
	scanned := max(h.live+heapBytes("/gc/scan/globals:bytes")+heapBytes("/gc/scan/stack:bytes"), 1)
	debug.SetGCPercent(int(min(100*(most-h.live)/scanned, 100*most/(4<<20))) + 1)
}

// heapBytes reads a size in bytes from runtime/metrics; 0: this version of Go does not have it.
func heapBytes(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// Release lets the collector run as it did before.
func (h *Collector) Release() { Release() }

// availableMemory returns the memory that can be had without swapping, in
// bytes, or growAtMost where the system does not tell.
func availableMemory() int64 {
	if bytes, ok := vitals.MemoryAvailable(); ok {
		return bytes
	}
	return growAtMost
}
