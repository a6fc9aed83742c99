package judge

import (
	"math"
	"testing"

	"sixnines/result"
)

// A reason that is of a time says how much of the window that took at most, so that what was measured can be
// bounded by it: on several processors the sum, since each may be the one that is waited for.
func TestReasonsSayTheirShare(t *testing.T) {
	every := func(b *testbed, name result.Vital, v float64) {
		for _, i := range b.intervals {
			i.v.Vitals[name] = v
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*testbed)
		code   result.ReasonCode
		want   float64
	}{
		{"a pause of 120 ms", func(b *testbed) {
			b.intervals[4].v.Pauses = []result.Pause{{Start: 4e9, End: 4.12e9, Source: result.PauseProcess}}
		}, result.ReasonFrozen, 0.012},
		{"throttled", func(b *testbed) {
			b.intervals[3].v.Vitals[result.VitalCgroupThrottled] = 2
			b.intervals[3].v.Vitals[result.VitalCgroupThrottleTime] = 10e6
		}, result.ReasonThrottled, 0.001},
		{"throttled for a time that nobody tells", func(b *testbed) { b.intervals[3].v.Vitals[result.VitalCgroupThrottled] = 2 }, result.ReasonThrottled, 0},
		{"steal on two processors", func(b *testbed) { every(b, result.VitalHostSteal, 0.02); every(b, result.VitalHostStealTime, 0.04) }, result.ReasonSteal, 0.04},
		{"steal on 64 processors", func(b *testbed) { every(b, result.VitalHostSteal, 0.02); every(b, result.VitalHostStealTime, 1.28) }, result.ReasonSteal, 1},
		{"steal on nobody knows how many", func(b *testbed) { every(b, result.VitalHostSteal, 0.02) }, result.ReasonSteal, 0},
		{"garbage collection, of which only the pauses are known", func(b *testbed) { every(b, result.VitalGoGCPauseTotal, 20e6) }, result.ReasonGC, 0},
		{"garbage collection in pauses", func(b *testbed) { every(b, result.VitalGoGCPauseTotal, 20e6); every(b, result.VitalGoCPUGC, 0.01) }, result.ReasonGC, 0.02},
		{"garbage collection beside the load", func(b *testbed) { every(b, result.VitalGoGCPauseTotal, 20e6); every(b, result.VitalGoCPUGC, 0.5) }, result.ReasonGC, 0.5},
		{"garbage collection on many processors", func(b *testbed) { every(b, result.VitalGoGCPauseTotal, 20e6); every(b, result.VitalGoCPUGC, 1.5) }, result.ReasonGC, 1},
		{"swapping, which is no time", func(b *testbed) { b.intervals[3].v.Vitals[result.VitalHostSwapIn] = 7 }, result.ReasonSwap, 0},
	} {
		b := newTestbed(healthyMessages())
		tt.change(b)
		v := assessed(verdictOf(b.run(t), Inputs{}))
		if r := find(v, tt.code); r == nil || math.Abs(r.Share-tt.want) > 1e-6 {
			t.Errorf("%s: %+v, want a share of %g", tt.name, r, tt.want)
		}
	}
}
