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

// What loops over three clocks show is in the verdict.
func TestLoopsOverThreeClocks(t *testing.T) {
	closed := func(c *result.AgentClock) { c.Loop, c.Loops = 3_000, 9 }
	open := func(c *result.AgentClock) { c.Loop, c.Loops, c.Open = 40_000, 9, true }
	none := func(*result.AgentClock) {}
	for _, tt := range []struct {
		a, b func(*result.AgentClock)
		text string
	}{
		{none, none, "not closed over three clocks"},
		{closed, none, "closed over three clocks within 3.00 µs for 1 of 2 agents"},
		{closed, closed, "if also the fastest ways between the clocks are symmetric within a tenth; closed over three clocks within 3.00 µs"},
		{closed, open, "do not close over three clocks, since agents that ask each other directly find offsets up to 40.0 µs away"},
	} {
		b := newTestbed(healthyMessages())
		clocked(time.Microsecond, false)(b)
		for i, change := range []func(*result.AgentClock){tt.a, tt.b} {
			c := *b.header.Fleet.Agents[i].Clock
			change(&c)
			b.header.Fleet.Agents[i].Clock = &c
		}
		v := assessed(verdictOf(b.run(t), Inputs{}))
		if r := find(v, result.ReasonClocks); r == nil || !strings.Contains(r.Text, tt.text) {
			t.Errorf("%+v, want %q", r, tt.text)
		}
	}
}
