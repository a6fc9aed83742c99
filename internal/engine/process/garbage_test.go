package process

import (
	"runtime"
	"testing"
)

// After its first minute the heap grows no further: there may be as much garbage as there was
// then.
func TestHeapStaysAsItWasAfterAMinute(t *testing.T) {
	const piece = 1 << 16
	objects := func() uint64 { return heapBytes("/memory/classes/heap/objects:bytes") }
	var sink []byte
	litter := func(bytes int) {
		for range bytes / piece {
			sink = make([]byte, piece)
		}
	}
	for name, first := range map[string]int{"little garbage": 1 << 20, "much": 40 << 20} {
		h := HoldCollector()
		cycles := heapBytes("/gc/cycles/automatic:gc-cycles")
		h.Poll(h.since + int64(heapMinute) - 1)
		litter(first)
		if n := heapBytes("/gc/cycles/automatic:gc-cycles") - cycles; h.fixed || n > 0 {
			t.Errorf("%s: collected %d times in the first minute", name, n)
		}
		minute := objects()
		h.Poll(h.since + int64(heapMinute))
		limit := max(minute, h.live+heapLeast)
		if goal := heapBytes("/gc/heap/goal:bytes"); !h.fixed || goal > limit+limit/10+4<<20 || goal < limit-limit/10 {
			t.Errorf("%s: may grow to %d kB, from %d kB live and %d kB after the minute", name, goal>>10, h.live>>10, minute>>10)
		}
		litter(300 << 20)
		if n := heapBytes("/gc/cycles/automatic:gc-cycles") - cycles; n == 0 {
			t.Errorf("%s: never collected afterwards", name)
		}
		h.Release()
	}
	runtime.KeepAlive(sink)
}
