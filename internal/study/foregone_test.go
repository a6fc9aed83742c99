package study

import (
	"strings"
	"testing"
)

// What a design or a machine cannot decide is known before anything is run.
func TestForegone(t *testing.T) {
	for _, tt := range []struct {
		test, length string
		processors   int
		due          int64
		why          string // empty: it can be decided
	}{
		{"{kind: below, cells: [x/r-100], figures: [p99], bound: 1ms}", Default, 2, 368, ""},
		{"{kind: below, cells: [x/r-100], figures: [p99], bound: 1ms}", Default, 2, 367, "p99 of x/r-100 takes 368 messages, and 367 are due"},
		{"{kind: below, cells: [x/r-100], figures: [p99], bound: 1ms}", Default, 2, 0, ""},
		{"{kind: share, cells: [x/r-100], figures: [p99.99/p99], at_least: 2, share: 1}", Default, 2, 9000, "p99.99/p99 of x/r-100 takes 36,887 messages"},
		{"{kind: faster, a: x/r-400, b: y/r-100, figures: [p50]}", Full, 2, 0, "2 rounds of x/r-400, and it takes 6"},
		{"{kind: below, cells: [x/r-400], figures: [p50], bound: 1ms}", Full, 2, 0, ""}, // two runs with intervals of their own
		{"{kind: below, cells: [x/r-400], figures: [drain/fill], bound: \"1\"}", Full, 2, 0, "2 rounds of x/r-400"},
		{"{kind: some, cells: [x/r-400], figures: [lost]}", Full, 2, 0, ""},
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50], processors: 8}", Default, 2, 0, "it takes 8 processors, and there are 2"},
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50], processors: 8}", Default, 8, 0, ""},
		{"{kind: undecidable, why: neither is to be had, needs: both}", Default, 2, 0, "neither is to be had"},
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p99.99]}", Quick, 1, 1, ""}, // said once, of all of it
	} {
		s := small(t, "      - "+tt.test)
		got, err := s.Foregone(tt.length, tt.processors, func(*Cell, string) int64 { return tt.due })
		if err != nil || (len(got) > 0) != (tt.why != "") {
			t.Errorf("%s: %+v, %v", tt.test, got, err)
		}
		for _, x := range got {
			if !strings.Contains(x.Why, tt.why) && !strings.Contains(x.Why, "y/r-100") || x.Needs == "" || x.Conclusion != "it" {
				t.Errorf("%s: %+v, want %q", tt.test, x, tt.why)
			}
		}
	}
	// Another test of the conclusion may refute it; where cells are missing as well, the longer length is named.
	s := small(t, "      - {kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}\n      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50], processors: 8}")
	s.Lengths.Default.Cells = []string{"x"}
	if got, _ := s.Foregone(Default, 2, func(*Cell, string) int64 { return 0 }); len(got) != 1 || !got[0].Refutable || got[0].Needs != "a machine of 8 processors, and sixnines study run small --full" {
		t.Errorf("%+v", got)
	}
	s = small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}")
	s.Lengths.Default.Cells = []string{"x"}
	if got, _ := s.Foregone(Default, 2, func(*Cell, string) int64 { return 0 }); len(got) != 1 || got[0].Why != "y/r-100 is not in the length default" || got[0].Needs != "sixnines study run small --full" {
		t.Errorf("%+v", got)
	}
}

// The design has one fingerprint, which texts do not change and thresholds do.
func TestDesign(t *testing.T) {
	text := smallText + "conclusions: [{name: it, claim: it is so, tests: [{kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}]}]\n"
	design := func(text string) string {
		s, err := Parse("small.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Design()
	}
	want := design(text)
	if len(want) != 12 {
		t.Errorf("%q", want)
	}
	for _, same := range []string{strings.Replace(text, "question: Does it work?", "question: Does it?", 1), strings.Replace(text, "story: [none]", "# a remark\nstory: [another]", 1)} {
		if got := design(same); got != want {
			t.Errorf("a text changes the design: %s, %s", got, want)
		}
	}
	for _, change := range [][2]string{{"bound: 1ms", "bound: 2ms"}, {"it is so", "it is not so"}, {"rounds: 6", "rounds: 7"}, {"rate: [100,", "rate: [101, 100,"}, {"duration: 10s", "duration: 11s"}} {
		if got := design(strings.Replace(text, change[0], change[1], 1)); got == want {
			t.Errorf("%s for %s leaves the design as it was", change[1], change[0])
		}
	}
}
