package study

import (
	"math"
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

func TestSpell(t *testing.T) {
	for _, x := range []struct {
		v    float64
		u    Unit
		want string
	}{{0.4382, Nanoseconds, "0.438 ns"}, {2, Nanoseconds, "2 ns"}, {10.84, Nanoseconds, "10.8 ns"}, {97, Nanoseconds, "97 ns"}, {99.97, Nanoseconds, "100 ns"},
		{412_345, Nanoseconds, "412 µs"}, {2e-6, Seconds, "2.00 µs"}, {math.Inf(1), Nanoseconds, "∞"}} {
		if got := Spell(x.v, x.u); got != x.want {
			t.Errorf("%v %s: %q, want %q", x.v, x.u, got, x.want)
		}
	}
}

// A run that another may stand in for is told from one that shows how the system did.
func TestSpoilt(t *testing.T) {
	c := &Cell{}
	for _, tt := range []struct {
		run    *result.Run
		figure string
		want   bool
	}{
		{ms(1), "p99", false},
		{spoilt(1, suspect), "p99", true},
		{spoilt(1, suspect), "p50", false},
		{spoilt(1, invalid), "p50", true},
		{spoilt(1, unstable), "p50", false},
		{spoilt(1, floored), "p50", false},
		{ms(1), "p99.9", false}, // which needs more messages
	} {
		if got := c.Spoilt(tt.run, &Test{Figures: []string{tt.figure}}); got != tt.want {
			t.Errorf("%s of %s: %v", tt.figure, tt.run.Summary.Verdict.Status, got)
		}
	}
}
