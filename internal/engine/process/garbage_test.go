package process

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// However much a process holds and however little memory is available, it may grow before the
// collector runs, and after the first minute no fixed limit is left that what is live could reach.
func TestTheCollectorDoesNotRunForWhatIsLive(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		occupied        uint64
		available, want int64
	}{
		{20 * mib, 32 << 30, 2068 * mib},
		{20 * mib, 4 << 30, 532 * mib},
		{600 * mib, 4 << 30, 1112 * mib}, // an eighth of what is available is less than is live
		{600 * mib, 100 * mib, 728 * mib},
		{5000 * mib, 32 << 30, 7048 * mib},
	} {
		if got := memoryLimit(tt.occupied, tt.available); got != tt.want {
			t.Errorf("%d MiB in use and %d available: a limit of %d MiB, want %d", tt.occupied/mib, tt.available/mib, got/mib, tt.want/mib)
		}
	}
	limit := debug.SetMemoryLimit(-1)
	h := HoldCollector()
	defer h.Release()
	if got := debug.SetMemoryLimit(-1); got < int64(h.live)+growAtLeast {
		t.Errorf("a limit of %d, and %d are live", got, h.live)
	}
	h.Poll(h.since + int64(heapMinute))
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("a limit of %d after the first minute, and it was %d", got, limit)
	}
}

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
