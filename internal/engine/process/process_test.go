package process

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Runs that overlap leave the process as the first one found it, whichever ends first, and
// none takes away what another one needs.
func TestOverlappingRunsLeaveTheProcessAsItWas(t *testing.T) {
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	limit, procs := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	for _, first := range []int{0, 1} {
		var ends []func()
		for _, more := range []int{3, 2} {
			Hold()
			SetProcessors(procs + more)
			h := HoldCollector()
			ends = append(ends, func() { h.Release(); Release() })
		}
		if n := runtime.GOMAXPROCS(0); n != procs+3 {
			t.Errorf("%d processors, and one of two runs needs %d", n, procs+3)
		}
		ends[first]()
		if n := runtime.GOMAXPROCS(0); n != procs+3 {
			t.Errorf("%d processors after run %d has ended, want %d still", n, first, procs+3)
		}
		ends[1-first]()
		if got := debug.SetGCPercent(percent); got != percent {
			t.Errorf("the collector's percent is %d, and was %d", got, percent)
		}
		if l, n := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); l != limit || n != procs {
			t.Errorf("a limit of %d and %d processors, and there were %d and %d", l, n, limit, procs)
		}
	}
}
