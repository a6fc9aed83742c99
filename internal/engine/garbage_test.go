package engine

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"sixnines/drivers/mem"
)

// allocated returns the bytes that the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// What an interval leaves behind is next to nothing: garbage is not collected in
// the measured window, and that of an hour must fit into 20 MB.
func TestGarbageOfIntervals(t *testing.T) {
	var readings []uint64
	_, err := Run(t.Context(), Config{Scenario: parse(t, `
target: {driver: mem}
phases: {warmup: 200ms, duration: 4s}
workload: {rate: 200/s}
record: {interval: 100ms}
`), Entry: mem.Entry(), Usage: func() []Usage { // called once an interval
		readings = append(readings, allocated())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := len(readings)
	if n < 10 {
		t.Fatalf("%d intervals", n)
	}
	half := n / 2
	each := (readings[n-2] - readings[half]) / uint64(n-2-half)
	t.Logf("%d bytes an interval", each)
	// 2,600 of a quiet machine; where it is busy there are fewer intervals to share
	// what a run leaves but once.
	if each > 8000 {
		t.Errorf("an interval leaves %d bytes", each)
	}
}

// After its first minute the heap grows no further: what garbage there was then
// is what there may be.
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
		h := holdCollector()
		cycles := heapBytes("/gc/cycles/automatic:gc-cycles")
		h.tend(h.since + int64(heapMinute) - 1)
		litter(first)
		if n := heapBytes("/gc/cycles/automatic:gc-cycles") - cycles; h.settled || n > 0 {
			t.Errorf("%s: collected %d times in the first minute", name, n)
		}
		minute := objects()
		h.tend(h.since + int64(heapMinute))
		limit := max(minute, h.live+heapRoom)
		if goal := heapBytes("/gc/heap/goal:bytes"); !h.settled || goal > limit+limit/10+4<<20 || goal < limit-limit/10 {
			t.Errorf("%s: may grow to %d kB, from %d kB live and %d kB after the minute", name, goal>>10, h.live>>10, minute>>10)
		}
		litter(300 << 20)
		if n := heapBytes("/gc/cycles/automatic:gc-cycles") - cycles; n == 0 {
			t.Errorf("%s: never collected afterwards", name)
		}
		h.release()
	}
	runtime.KeepAlive(sink)
}
