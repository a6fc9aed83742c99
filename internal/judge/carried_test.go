package judge

import (
	"math"
	"testing"

	"sixnines/result"
)

// The carried rate is that at which messages of the window are resolved, from the first of them
// on: in the window, or, if messages of the warm-up filled it, in the drain.
func TestCarried(t *testing.T) {
	run := func(counts ...int64) *result.Run {
		r := &result.Run{Counters: result.Counters{Sent: 4000, Expected: 8000}}
		for i, n := range counts {
			p := result.Point{Phase: result.PhaseMeasure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9}
			if p.Counters.Scheduled = 1000; i >= 4 {
				p.Phase, p.Counters.Scheduled = result.PhaseDrain, 0
			}
			p.Metrics = map[result.Metric]result.PointMetric{result.DeliveryResponse: {Count: n}}
			r.Series = append(r.Series, p)
		}
		return r
	}
	s := &result.Summary{Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: {Figures: map[result.Percentile]result.Figure{"50": {Value: 1}}}}}
	for name, tt := range map[string]struct {
		run  *result.Run
		want float64 // 0: not known
	}{
		"from the beginning":        {run(240, 240, 240, 240, 1000), 0.12},
		"behind the warm-up":        {run(0, 0, 240, 240, 1000), 0.12},
		"in the drain":              {run(0, 0, 0, 0, 0, 240, 240), 0.12},
		"nothing":                   {run(0, 0, 0, 0, 0), 0},
		"all that was due":          {run(2000, 2000, 2000, 2000), 0},
		"without a message in time": {run(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			share, ok := newEvidence(tt.run, Inputs{End: 4e9}, s).carried()
			if ok != (tt.want > 0) || ok && math.Abs(share-tt.want) > 1e-9 {
				t.Errorf("%v, %v, want %v", share, ok, tt.want)
			}
		})
	}
}
