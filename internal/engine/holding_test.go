package engine

import (
	"testing"

	"sixnines/drivers/mem"
)

// The peak of a backlog that comes and goes within an interval is known all the same,
// and the backlog was filled no faster than the load.
func TestAPauseWithinAnInterval(t *testing.T) {
	for pause, peak := range map[string]int64{"500ms@50ms": 250, "400ms@300ms": 200} {
		r := measure(t, `
target: {driver: mem, options: {queue: 100000}}
phases: {warmup: 0s, duration: 1s, drain: 5s}
workload: {rate: 500/s, consumer: {pause: `+pause+`}}
record: {interval: 1s}
`, mem.Entry(), "")
		// On a busy machine a pause takes longer.
		k := r.Summary.Backlog
		if k.Peak < peak*9/10 || k.Peak > 500 || k.Left != 0 {
			t.Errorf("%s: a peak of %d, want %d: %+v", pause, k.Peak, peak, k)
		}
		if k.FillRate > 520 || k.FillRate < 200 || k.Filled < k.Peak {
			t.Errorf("%s: filled at %v/s of 500/s: %+v", pause, k.FillRate, k)
		}
	}
}
