package study

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// Of an even number of rounds the figure is that of the lower one in the middle: one
// that was seen, and no mean of two percentiles.
func TestReadRoundsAveragesNothing(t *testing.T) {
	c := &CellOutcome{}
	for i, v := range []int64{400, 100, 1000, 300, 200, 700} {
		d := &result.Distribution{Count: 1000, Samples: 1000, Figures: map[result.Percentile]result.Figure{"50": {Value: v, Interval: &result.Bounds{Low: v - 1, High: v + 1}}}}
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

// A run that may be replaced is distinguished from one that shows the system's behaviour.
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

// A planned round without a result may have shown anything: it decides nothing that it
// could have changed, and nothing is decided by those that are left.
func TestAbsentRoundsDecideNothingThatTheyCouldChange(t *testing.T) {
	failed := func(n int) (all []TrialOutcome) {
		for range n {
			all = append(all, TrialOutcome{Why: "nobody answers"})
		}
		return all
	}
	tests := map[string]string{
		"below":  "{kind: below, cells: [x/r-100], figures: [p50], bound: 4ms}",
		"above":  "{kind: above, cells: [x/r-100], figures: [p50], bound: 0.5ms}",
		"share":  "{kind: share, cells: [x/r-100], figures: [p99/p50], at_least: 2, share: 1}",
		"steady": "{kind: steady, cells: [x/r-100], class: flat}",
		"drift":  "{kind: steady, cells: [x/r-100], class: drift}",
		"faster": "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}",
	}
	six := rounds(fast...)
	many := slices.Concat(six, six, six)
	for _, tt := range []struct {
		name   string
		x      []*result.Run
		absent []TrialOutcome
		want   map[string]Verdict
	}{
		{"none", six, nil, map[string]Verdict{"below": Agrees, "above": Agrees, "share": Agrees, "steady": Agrees, "drift": Disagrees, "faster": Agrees}},
		{"20 failed", six, failed(20), map[string]Verdict{"below": Undecidable, "above": Undecidable, "share": Undecidable, "steady": Undecidable, "drift": Undecidable, "faster": Undecidable}},
		{"1 failed", six, failed(1), map[string]Verdict{"below": Undecidable, "above": Undecidable, "share": Undecidable, "steady": Undecidable, "drift": Disagrees, "faster": Undecidable}},
		{"1 not made", six, make([]TrialOutcome, 1), map[string]Verdict{"below": Undecidable, "steady": Undecidable, "faster": Undecidable}},
		{"1 of 19 failed", many, failed(1), map[string]Verdict{"below": Agrees, "above": Agrees, "share": Agrees, "steady": Undecidable}},
		{"20 overloaded", slices.Concat(six, slices.Repeat([]*result.Run{spoilt(1, unstable)}, 20)), nil,
			map[string]Verdict{"below": Undecidable, "above": Undecidable, "share": Undecidable, "steady": Undecidable, "drift": Undecidable, "faster": Undecidable}},
		{"2 of 8 INVALID", slices.Concat(six, slices.Repeat([]*result.Run{spoilt(1, invalid)}, 2)), nil,
			map[string]Verdict{"below": Undecidable, "above": Undecidable, "steady": Undecidable, "faster": Undecidable}},
		{"2 INVALID, and two in their place", slices.Concat(six, slices.Repeat([]*result.Run{spoilt(1, invalid)}, 2), six[:2]), nil,
			map[string]Verdict{"below": Agrees, "above": Agrees, "steady": Agrees, "faster": Agrees}},
	} {
		for kind, want := range tt.want {
			s := small(t, "      - "+tests[kind])
			y := slices.Concat(rounds(slow...), rounds(slow...))
			o := outcome(t, s, Full, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": y})
			c := o.Cell("x/r-100")
			c.Cell.Rounds = 6
			if strings.Contains(tt.name, "INVALID") {
				c.Cell.Rounds = 8
			}
			for i, a := range tt.absent {
				a.Round = len(tt.x) + i + 1
				c.Trials = append(c.Trials, a)
			}
			if d := Decide(o)[0]; d.Verdict != want {
				t.Errorf("%s, %s: %s, want %s: %+v", tt.name, kind, d.Verdict, want, d.Tests[0])
			}
		}
	}
}
