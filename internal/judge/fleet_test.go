package judge

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// The expected error rests on ways that are symmetric. A message that arrived before it was sent by more than that
// error shows that they are not, and only what is proved is left.
func TestExpectedErrorIsRefuted(t *testing.T) {
	for _, tt := range []struct {
		early  float64
		bound  string
		status result.Status
		text   string
	}{
		{2_000, result.BoundExpected, result.Suspect, "judged by the expected error, ± 2.00 µs, as was asked for"},
		{2_001, result.BoundExpected, result.Invalid, "not within the expected 2.00 µs, since a message arrived 2.00 µs before it was sent"},
		{900_000, "", result.Invalid, "not within the expected 2.00 µs, since a message arrived 900 µs before it was sent"},
	} {
		b := newTestbed(healthyMessages())
		clocked(time.Second, false)(b)
		for i := range b.header.Fleet.Agents {
			b.header.Fleet.Agents[i].Clock.Expected = 1_000
		}
		b.header.Fleet.Bound = tt.bound
		b.intervals[len(b.intervals)-1].v.Vitals[result.VitalDeliveryEarly] = tt.early
		v := assessed(verdictOf(b.run(t), Inputs{}))
		if r := find(v, result.ReasonClocks); r == nil || r.Status != tt.status || !strings.Contains(r.Text, tt.text) || strings.Contains(r.Text, "if also") != (tt.status == result.Suspect) {
			t.Errorf("%.0f ns early: %+v, want %s with %q", tt.early, r, tt.status, tt.text)
		}
	}
}
