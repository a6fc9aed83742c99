package study

import (
	"testing"

	"sixnines/result"
)

// Of an even number of rounds the figure is that of the lower one in the middle: one
// that was seen, and no mean of two percentiles.
func TestReadRoundsAveragesNothing(t *testing.T) {
	c := &CellOutcome{}
	for i, v := range []int64{400, 100, 1000, 300, 200, 700} {
		d := &result.Distribution{Count: 1000, Samples: 1000, Percentiles: map[string]int64{"50": v}, Intervals: map[string][2]int64{"50": {v - 1, v + 1}}}
		c.Trials = append(c.Trials, TrialOutcome{Round: i + 1, Run: &result.Run{Summary: &result.Summary{
			Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}, Verdict: result.Verdict{Status: result.Valid}}}})
	}
	o := ReadRounds(c, "p50", "", "")
	if o.Value != 300 || o.Low != 100 || o.High != 1000 || o.Rounds != 6 {
		t.Errorf("%+v", o)
	}
}
