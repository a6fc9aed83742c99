package study

import (
	"errors"
	"strings"
	"testing"

	"sixnines/scenario"
)

// What is wrong is said with its place and what was meant.
func TestParseRefuses(t *testing.T) {
	conclusion := "\nconclusions: [{name: it, claim: so, tests: [TEST]}]"
	for _, tt := range []struct{ name, old, new, says string }{
		{"no YAML", "systems: [", "systems: [[", "small.yaml:"},
		{"an unknown key", "question:", "qestion:", `small.yaml:4:1: unknown key "qestion" (did you mean question?)`},
		{"a key below", "{name: y, title: Y}", "{name: y, tilte: Y}", `unknown key "tilte" in systems[1] (did you mean title?)`},
		{"a wrong type", "rounds: 6", "rounds: many", "small.yaml:13:21"},
		{"no title", "title: Small", "title: ''", "the title is missing"},
		{"two alike", "{name: y, title: Y}", "{name: x, title: Y}", `two systems are called "x"`},
		{"no such system", `systems: ["*"], loads`, `systems: [z], loads`, `no system matches "z"`},
		{"a pattern that is none", `systems: ["*"], loads`, `systems: ["["], loads`, `"[" is no pattern`},
		{"no rounds", "rounds: 6", "rounds: 0", "small.yaml:13:13: default has 0 rounds"},
		{"no cell of a length", `["*/r-400"]`, `["*/r-401"]`, `no cell matches "*/r-401" (did you mean`},
		{"a scenario", `driver: "null"`, `drivr: "null"`, `small.yaml:6:17: cell x/r-100 (quick): unknown key "drivr"`},
		{"a scenario that cannot be", "{phases: {duration: 10s}}", "{phases: {duration: 10s}, workload: {topics: 2, producers: 1, pattern: roundtrip}}", "cell x/r-100 (full)"},
		{"a conclusion without a section", "conclusions: [it]}]", "conclusions: []}]", "no section has the conclusion it"},
		{"a section's conclusion", "conclusions: [it]}]", "conclusions: [its]}]", `there is no conclusion "its" (did you mean it?)`},
		{"a kind of test", "TEST", "{kind: fastr, a: x/r-100, b: y/r-100, figures: [p50]}", `there is no kind of test "fastr" (did you mean faster?)`},
		{"a test without a field", "TEST", "{kind: faster, a: x/r-100, figures: [p50]}", "needs b"},
		{"a test with one more", "TEST", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50], share: 1}", "takes no share"},
		{"a test's cell", "TEST", "{kind: faster, a: x/r-100, b: y/r-101, figures: [p50]}", `there is no cell "y/r-101" (did you mean y/r-100?)`},
		{"a figure", "TEST", "{kind: faster, a: x/r-100, b: y/r-100, figures: [rate.sentt]}", "did you mean rate.sent?"},
		{"a maximum", "TEST", "{kind: faster, a: x/r-100, b: y/r-100, figures: [max]}", "a maximum cannot be tested"},
		{"a bound", "TEST", "{kind: below, cells: [x], figures: [p50], bound: 3}", "is no bound for p50"},
		{"a metric", "TEST", "{kind: below, cells: [x], figures: [p50], bound: 3ms, metric: lag.own}", "is no latency"},
		{"a function", "TEST", "{kind: arithmetic, function: all-within, of: [1], value: 1, margin: 0.1}", "it takes a percentile"},
		{"a figure of the original's", "sections:", "figures: [{source: text, columns: [p50], rows: {x/r-100: [1, 2]}}]\nsections:", "2 values for 1 columns"},
		{"a figure's cell", "sections:", "figures: [{source: text, cell: x/r, words: slow}]\nsections:", `there is no cell "x/r"`},
		{"a chart", "title: All,", "title: All, charts: [{kind: over, title: T, cells: [x], figures: [p50], over: sizes}],", `no load and no system has a place on the axis "sizes"`},
		{"a printed number", "sections:", "figures: [{source: text, columns: [p50], rows: {x/r-100: [fast]}}]\nsections:", `"fast" is no number`},
		{"a share", "claim:", "share: 1.5, claim:", "a share of 1.5"},
		{"a slip", "sections:", "slips: [{where: Nowhere, text: oh}]\nsections:", `"Nowhere"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := smallText + strings.Replace(conclusion, "TEST", "{kind: undecidable, why: a, needs: b}", 1)
			if tt.old == "TEST" {
				text = smallText + strings.Replace(conclusion, "TEST", tt.new, 1)
			} else {
				if !strings.Contains(text, tt.old) {
					t.Fatal("nothing to replace")
				}
				text = strings.Replace(text, tt.old, tt.new, 1)
			}
			_, err := Parse("small.yaml", []byte(text))
			var many scenario.Errors
			if !errors.As(err, &many) || many[0].Line == 0 || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// A cell's scenario is that of all layers, one over the other: base, system, load,
// cells, length.
func TestCells(t *testing.T) {
	s, err := Parse("layers.yaml", []byte(`
name: layers
title: Layers
question: Which?
story: [none]
base: {target: {driver: "null"}, workload: {size: 64B, producers: 2}, phases: {warmup: 1s, duration: 1s}}
systems:
  - {name: a, title: A, scenario: {workload: {size: 128B, keys: fixed}}}
  - {name: "b-{n}", title: "B {n}", for: {n: [1, 2]}, scenario: {workload: {producers: "{n}"}}}
loads:
  - {name: one, title: One, scenario: {workload: {rate: 10/s}}}
  - {name: many, title: Many, scenario: {workload: ~, workloads: {x: {rate: 5/s}, y: {rate: 6/s, background: true}}}}
cells:
  - {systems: ["*"], loads: ["*"]}
  - {systems: [a], loads: [one], scenario: {workload: {rate: 20/s}}}
  - {systems: [a], loads: [many], lengths: [full], scenario: {description: twice}}
lengths:
  quick: {rounds: 1, cells: [a]}
  default: {rounds: 6, scenario: {phases: {duration: 2s}}}
  full: {rounds: 6, scenario: {phases: {duration: 3s}}, loads: [{cells: [a/one], rounds: 2, scenario: {phases: {duration: 9s, warmup: 0s}}}]}
sections: [{title: All, charts: [{kind: over, title: Over n, cells: ["b-*"], over: n, figures: [p50]}]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Systems[2].Name != "b-2" || s.Systems[2].Title != "B 2" || s.Systems[2].At["n"] != 2 {
		t.Errorf("%+v", s.Systems[2])
	}
	count := map[string]int{Quick: 2, Default: 6, Full: 6}
	for length, n := range count {
		if cells, err := s.Cells(length); err != nil || len(cells) != n {
			t.Errorf("%s: %d cells, %v", length, len(cells), err)
		}
	}
	full, _ := s.Cells(Full)
	if full[0].Name != "a/one" || full[0].Rounds != 2 || full[1].Rounds != 6 {
		t.Errorf("%+v", full[:2])
	}
	for _, c := range full {
		text, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenario.Parse("again", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Name, err, text)
		}
		direct, err := c.Scenario(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*scenario.Scenario{again, direct} {
			w := x.Workload
			ok := false
			switch c.Name {
			case "a/one":
				ok = w.Size.String() == "128B" && w.Producers == 2 && w.Rate.String() == "20/s" && x.Phases.Duration.Seconds() == 9 && x.Phases.Warmup == 0 && x.Name == "a-one"
			case "b-2/one":
				ok = w.Size.String() == "64B" && w.Producers == 2 && w.Rate.String() == "10/s" && x.Phases.Duration.Seconds() == 3
			case "b-1/one":
				ok = w.Producers == 1
			case "a/many":
				ok = len(x.Workloads) == 2 && x.Description == "twice"
			default:
				ok = len(x.Workloads) == 2
			}
			if !ok {
				t.Errorf("%s: %+v", c.Name, x)
			}
		}
	}
	if got := Select(full, []string{"b-?/one", "a"}); len(got) != 4 {
		t.Errorf("%+v", got)
	}
}
