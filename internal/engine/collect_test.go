package engine

import (
	"fmt"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/result"
	"sixnines/scenario"
)

// An overload is found however long the intervals are: what the gates of the
// backlog and of the worst second look at follows the window.
func TestLongIntervalsHideNoOverload(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 2 * time.Second, time.Minute} {
		t.Run(interval.String(), func(t *testing.T) {
			if interval > time.Second {
				variant(t)
			}
			r := measure(t, fmt.Sprintf(`
target: {driver: mem, options: {queue: 1048576}}
phases: {warmup: 100ms, duration: 2s, drain: 300ms}
workload: {rate: 1000/s, consumer: {work: 2ms}}
record: {interval: %s}
`, interval), mem.Entry(), "")
			if s := r.Summary.Verdict.Status; s != result.Unstable && s != result.Invalid || r.Summary.Rate.Sent == 0 { // INVALID: on a busy machine
				t.Errorf("%s", show(r))
			}
			var measured []result.Point
			readings := 0
			for _, p := range r.Series {
				if p.Phase == result.PhaseMeasure {
					measured = append(measured, p)
				}
				var due, sent int64
				for _, l := range p.Stretches {
					due, sent = due+l.Due, sent+l.Sent
					if p.Phase == result.PhaseMeasure {
						readings++
					}
				}
				if due != p.Counters.Scheduled || sent != p.Counters.Sent+p.Counters.Rejected {
					t.Errorf("%d due and %d sent by its levels, %+v by its counters", due, sent, p.Counters)
				}
			}
			if want := max(1, int(2*time.Second/interval)); len(measured) > want || measured[len(measured)-1].End != int64(2*time.Second) {
				t.Errorf("%d intervals up to %d, want %d", len(measured), measured[len(measured)-1].End, want)
			}
			if grid := scenario.IntervalFor(2 * time.Second); readings < int(2*time.Second/grid)/4 {
				t.Errorf("%d readings", readings)
			}
		})
	}
}
