package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// small is a study of two systems under two loads with the tests that are given.
func small(t *testing.T, tests string) *Study {
	t.Helper()
	s, err := Parse("small.yaml", []byte(smallText+`
conclusions:
  - name: it
    claim: it is so
    tests:
`+tests))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const smallText = `
name: small
title: Small
question: Does it work?
story: [none]
base: {target: {driver: "null"}}
systems: [{name: x, title: X}, {name: y, title: Y}]
loads:
  - {name: "r-{rate}", title: "{rate}/s", for: {rate: [100, 200, 400]}, scenario: {workload: {rate: "{rate}/s"}}}
cells: [{systems: ["*"], loads: ["*"]}]
lengths:
  quick: {rounds: 1, scenario: {phases: {duration: 1s}}}
  default: {rounds: 6, scenario: {phases: {duration: 1s}}}
  full: {rounds: 8, scenario: {phases: {duration: 10s}}, loads: [{cells: ["*/r-400"], rounds: 2}]}
sections: [{title: All, conclusions: [it]}]
`

// ms is a run with the given p50 in milliseconds, a p99 three times as large and an unsupported
// p99.9.
func ms(p50 float64) *result.Run {
	at := func(v float64) int64 { return int64(v * 1e6) }
	d := &result.Distribution{Count: 1000, Samples: 1000, Figures: map[result.Percentile]result.Figure{
		"50":   {Value: at(p50), Interval: &result.Bounds{Low: at(p50 * 0.95), High: at(p50 * 1.05)}},
		"99":   {Value: at(3 * p50), Interval: &result.Bounds{Low: at(2 * p50), High: at(4 * p50)}},
		"99.9": {Needs: 3688}}}
	return &result.Run{Header: result.Header{Pattern: "deliver"}, Metrics: map[result.Metric]*result.Merged{},
		Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}, Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d},
			Steady: &result.Steady{P50: result.Trend{Class: "flat"}}}}
}

// spoilt is a run that something happened to.
func spoilt(p50 float64, how func(*result.Summary, *result.Distribution)) *result.Run {
	r := ms(p50)
	how(r.Summary, r.Summary.Histograms[result.DeliveryResponse])
	return r
}

func invalid(s *result.Summary, _ *result.Distribution) {
	s.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Code: "own-lag"}}}
}

// outcome is that of cells with their runs, by round.
func outcome(t *testing.T, s *Study, length string, runs map[string][]*result.Run) *Outcome {
	t.Helper()
	cells, err := s.Cells(length)
	if err != nil {
		t.Fatal(err)
	}
	o := &Outcome{Study: s, Length: length}
	for _, c := range cells {
		x := CellOutcome{Cell: c}
		for i, r := range runs[c.Name] {
			x.Trials = append(x.Trials, TrialOutcome{Round: i + 1, File: fmt.Sprintf("%s-%d.jsonl", c.Name, i+1), Run: r})
		}
		o.Cells = append(o.Cells, x)
	}
	return o
}

func rounds(p50 ...float64) []*result.Run {
	var all []*result.Run
	for _, v := range p50 {
		all = append(all, ms(v))
	}
	return all
}

var (
	fast = []float64{1, 1.1, 1.05, 0.95, 1.02, 0.99}
	slow = []float64{2, 2.1, 2.2, 1.9, 2.05, 1.95}
	like = []float64{1.01, 1.09, 1.06, 0.94, 1.03, 0.98}
)

func floored(_ *result.Summary, d *result.Distribution) {
	d.Update("50", func(f *result.Figure) { f.FloorRatio = new(2.5) })
	d.Update("99", func(f *result.Figure) { f.FloorRatio = new(4.0) })
}

func unstable(s *result.Summary, _ *result.Distribution) { s.Verdict.Status = result.Unstable }

func suspect(s *result.Summary, _ *result.Distribution) {
	s.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, From: "99", Why: "36 % own lag"}}
}

func TestDecide(t *testing.T) {
	last := func(all []*result.Run, r *result.Run) []*result.Run { return append(all[:len(all)-1:len(all)-1], r) }
	for _, tt := range []struct {
		name, test string
		x, y       []*result.Run // under r-100
		want       Verdict
		says       string
	}{
		{"faster", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99]}", rounds(fast...), rounds(slow...), Agrees, "y/r-100 ÷ x/r-100"},
		{"slower", "{kind: faster, a: y/r-100, b: x/r-100, figures: [p50, p99]}", rounds(fast...), rounds(slow...), Disagrees, "0."},
		{"alike", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", rounds(fast...), rounds(like...), Undecidable, "in 6 rounds"},
		{"one round", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", rounds(1), rounds(2), Undecidable, "made in 1 round: p50 of x/r-100 and y/r-100; it takes 6 rounds of each cell that can be used"},
		{"no support", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99.9]}", rounds(fast...), rounds(slow...), Undecidable, "needs 3,688 messages"},
		{"invalid", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", last(rounds(fast...), spoilt(1, invalid)), rounds(slow...), Undecidable, "1 of 6 rounds have no result (round 6 is INVALID: own lag)"},
		{"invalid, and suspect beyond", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99]}", append(rounds(fast[:4]...), spoilt(1, suspect), spoilt(1, invalid)), rounds(slow...), Undecidable, "1 of 6 rounds have no result (round 6 is INVALID: own lag)"},
		{"all invalid", "{kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}", []*result.Run{spoilt(0.1, invalid)}, nil, Undecidable, "INVALID (own lag): x/r-100 (round 1)"},
		{"unstable", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", rounds(fast...), last(rounds(slow...), spoilt(9, unstable)), Undecidable, "UNSTABLE"},
		{"a round more, unstable", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", append(rounds(fast...), spoilt(1, unstable)), append(rounds(slow...), ms(2)), Undecidable, "UNSTABLE: p50 of x/r-100 (round 7); without such rounds the others would be chosen by how the system did"},
		{"a round more, near the floor", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p99/p50], at_least: 2}", append(rounds(fast...), spoilt(1, floored)), append(rounds(slow...), ms(2)), Undecidable, "chosen by how the system did"},
		{"a round more, suspect", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p99]}", append(rounds(fast...), spoilt(1, suspect)), append(rounds(slow...), ms(2)), Agrees, ""},
		{"floor", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", last(rounds(fast...), spoilt(1, floored)), rounds(slow...), Undecidable, "3 times the noise floor"},
		{"floor elsewhere", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p99]}", last(rounds(fast...), spoilt(1, floored)), rounds(slow...), Agrees, ""},
		{"suspect", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p99]}", last(rounds(fast...), spoilt(1, suspect)), rounds(slow...), Undecidable, "36 % own lag"},
		{"suspect in different rounds", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p99]}", append(rounds(fast...), spoilt(1, suspect)), append([]*result.Run{spoilt(2, suspect)}, rounds(slow...)...), Agrees, "in 6 rounds, of each cell those that can be used, in their order"},
		{"suspect beyond", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", last(rounds(fast...), spoilt(1, suspect)), rounds(slow...), Agrees, ""},
		{"no runs", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", rounds(fast...), nil, Undecidable, "y/r-100 was not measured"},

		{"equivalent", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.1}", rounds(fast...), rounds(like...), Agrees, ""},
		{"not equivalent", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.1}", rounds(fast...), rounds(slow...), Disagrees, ""},
		{"nearly equivalent", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.001}", rounds(fast...), rounds(like...), Undecidable, ""},

		{"ratio", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}", rounds(fast...), rounds(slow...), Agrees, "at least 1.5 is claimed"},
		{"no such ratio", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 14}", rounds(fast...), rounds(slow...), Disagrees, ""},
		{"at most", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 0.7}", rounds(fast...), rounds(slow...), Agrees, ""},
		{"a ratio within", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 2}", rounds(fast...), rounds(slow...), Undecidable, "more or longer"},
		{"a ratio of quotients", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p99/p50], at_least: 2}", rounds(fast...), rounds(slow...), Disagrees, ""},

		{"below", "{kind: below, cells: [x/r-100], figures: [p50, p99], bound: 4ms}", rounds(fast...), nil, Agrees, "p99 of x/r-100 is 3."},
		{"not below", "{kind: below, cells: [x/r-100], figures: [p50, p99], bound: 2ms}", rounds(fast...), nil, Disagrees, ""},
		{"above", "{kind: above, cells: [x/r-100], figures: [p50], bound: 0.5ms}", rounds(fast...), nil, Agrees, ""},
		{"bound within", "{kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}", rounds(fast...), nil, Undecidable, "has 1ms in it"},
		{"two runs below", "{kind: below, cells: [x/r-100], figures: [p50], bound: 2ms}", rounds(1, 1.2), nil, Agrees, ""},
		{"two runs, one above", "{kind: below, cells: [x/r-100], figures: [p50], bound: 2ms}", rounds(1, 3), nil, Undecidable, ""},
		{"one run below", "{kind: below, cells: [x/r-100], figures: [p50], bound: 2ms}", rounds(1), nil, Undecidable, "has 1 round"},
		{"below but for an overload", "{kind: below, cells: [x/r-100], figures: [p50], bound: 4ms}", last(append(rounds(fast...), ms(1)), spoilt(1, unstable)), nil, Undecidable, "UNSTABLE"},

		{"share", "{kind: share, cells: [x/r-100, y/r-100], figures: [p99/p50], at_least: 2, share: 1}", rounds(fast...), rounds(slow...), Agrees, "in 2 of 2 cells"},
		{"no share", "{kind: share, cells: [x/r-100, y/r-100], figures: [p99/p50], at_least: 10, share: 0.5}", rounds(fast...), rounds(slow...), Disagrees, ""},
		{"unknown share", "{kind: share, cells: [x/r-100, y/r-100], figures: [p99/p50], at_least: 2, share: 1}", rounds(fast...), nil, Undecidable, "not known in 1"},
		{"enough of it", "{kind: share, cells: [x/r-100, y/r-100], figures: [p99/p50], at_least: 2, share: 0.5}", rounds(fast...), nil, Agrees, ""},

		{"steady", "{kind: steady, cells: [x/r-100], class: flat}", rounds(fast...), nil, Agrees, "6 runs are flat"},
		{"not steady", "{kind: steady, cells: [x/r-100], class: drift}", rounds(fast...), nil, Disagrees, ""},
		{"five steady", "{kind: steady, cells: [x/r-100], class: flat}", rounds(fast[:5]...), nil, Undecidable, ""},

		{"arithmetic", "{kind: arithmetic, function: all-within, of: [99.97, 200], value: 0.942, margin: 0.001}", nil, nil, Agrees, "0.94"},
		{"a slip", "{kind: arithmetic, function: all-within, of: [99.97, 200], value: 0.95, margin: 0.001}", nil, nil, Disagrees, ""},
		{"undecidable", "{kind: undecidable, why: one machine, needs: two}", nil, nil, Undecidable, "one machine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := small(t, "      - "+tt.test)
			d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
			f := d.Tests[0]
			if d.Verdict != tt.want || f.Verdict != tt.want || !strings.Contains(f.Text+"; "+f.Needs, tt.says) {
				t.Errorf("%s, want %s with %q: %+v", d.Verdict, tt.want, tt.says, f)
			}
			if (f.Needs != "") != (tt.want == Undecidable) && tt.name != "all invalid" {
				t.Errorf("needs %q", f.Needs)
			}
			if (len(f.Files) == 0) != (tt.x == nil || tt.name == "all invalid") && tt.y != nil {
				t.Errorf("files %q", f.Files)
			}
		})
	}
}

// A course is decided step by step, in the direction that is claimed.
func TestMonotone(t *testing.T) {
	for _, tt := range []struct {
		direction string
		middle    []float64
		want      Verdict
	}{
		{"rising", slow, Agrees}, {"falling", slow, Disagrees}, {"rising", fast, Undecidable}, {"rising", []float64{9, 9, 9, 9, 9, 9.1}, Disagrees},
	} {
		s := small(t, "      - {kind: monotone, cells: [x/r-100, x/r-200, x/r-400], figures: [p50], direction: "+tt.direction+"}")
		d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": rounds(like...), "x/r-200": rounds(tt.middle...), "x/r-400": rounds(4, 4.1, 4.2, 4.3, 3.9, 3.8)}))[0]
		if d.Verdict != tt.want {
			t.Errorf("%s over %v: %+v", tt.direction, tt.middle, d)
		}
	}
}

// A conclusion agrees if all of its tests do, and disagrees if one does. A part of its claim that no run
// decides keeps it from agreeing: else "steady where the other stopped" agreed because it was steady.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		share float64
		all   []Verdict
		want  Verdict
	}{
		{0, nil, Undecidable}, {0, []Verdict{Undecidable}, Undecidable}, {0, []Verdict{Undecidable, Agrees}, Undecidable}, {0, []Verdict{Agrees, Agrees}, Agrees},
		{0, []Verdict{Agrees, Undecidable, Disagrees}, Disagrees},
		{0.75, []Verdict{Agrees, Agrees, Agrees, Disagrees}, Agrees}, {0.75, []Verdict{Agrees, Agrees, Undecidable, Disagrees}, Undecidable},
		{0.75, []Verdict{Agrees, Agrees, Disagrees, Disagrees}, Disagrees},
	} {
		var found []Found
		for _, v := range tt.all {
			found = append(found, Found{Kind: KindBelow, Verdict: v})
		}
		if got := together(found, tt.share); got != tt.want {
			t.Errorf("%v: %s", found, got)
		}
	}
	const x, y = "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}\n", "      - {kind: faster, a: y/r-100, b: x/r-100, figures: [p50]}\n"
	const declared = "      - {kind: undecidable, why: one of them, needs: two}\n"
	for claim, want := range map[string]Verdict{x: Agrees, x + declared: Undecidable, y + declared: Disagrees} {
		d := Decide(outcome(t, small(t, claim), Default, map[string][]*result.Run{"x/r-100": rounds(fast...), "y/r-100": rounds(slow...)}))[0]
		if d.Verdict != want {
			t.Errorf("%s%s, want %s", claim, d.Verdict, want)
		}
	}
}

// What a skipped system is missing for is said, and so is a length without the cell.
func TestDecideWhatIsNotThere(t *testing.T) {
	s := small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}")
	o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": rounds(fast...)})
	o.Skipped = []Skipped{{System: "y", Why: "kafka is not installed", How: "sixnines broker install kafka"}}
	f := Decide(o)[0].Tests[0]
	if !strings.Contains(f.Text, "kafka is not installed") || f.Needs != "sixnines broker install kafka" {
		t.Errorf("%+v", f)
	}
	s.Lengths.Quick.Cells = []string{"x"}
	f = Decide(outcome(t, s, Quick, nil))[0].Tests[0]
	if !strings.Contains(f.Text, "x/r-100 was not measured") || !strings.Contains(f.Text, "y/r-100 is not in the length quick") || !strings.Contains(f.Needs, "sixnines study run small") {
		t.Errorf("%+v", f)
	}
}

// Going on with a length of one round makes no six.
func TestDecideOfTooFewRounds(t *testing.T) {
	s := small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}")
	for length, needs := range map[string]string{Quick: "sixnines study run small", Default: "sixnines study run small --resume results/small"} {
		o := outcome(t, s, length, map[string][]*result.Run{"x/r-100": rounds(1), "y/r-100": rounds(2)})
		o.More = "sixnines study run small --resume results/small"
		if f := Decide(o)[0].Tests[0]; !strings.HasSuffix(f.Needs, needs) {
			t.Errorf("%s: %q", length, f.Needs)
		}
	}
}

// Rounds are read as they are, and what decides nothing is shown all the same.
func TestReadRounds(t *testing.T) {
	s := small(t, "      - {kind: undecidable, why: a, needs: b}")
	at := func(runs ...*result.Run) Over {
		return ReadRounds(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": runs}).Cell("x/r-100"), "p50", "", "")
	}
	if o := at(ms(2)); o.Value != 2e6 || o.Low != 1.9e6 || !o.Bounded || o.Blocked == "" {
		t.Errorf("one round: %+v", o)
	}
	if o := at(rounds(fast...)...); o.Blocked != "" || o.Low != 0.95e6 || o.High != 1.1e6 || o.Rounds != 6 {
		t.Errorf("six rounds: %+v", o)
	}
	if o := at(); o.Rounds != 0 || o.Blocked == "" {
		t.Errorf("none: %+v", o)
	}
}

// If systems change on purpose, a run whose level changed can decide; a run that is suspect for
// another reason cannot.
func TestDisturbed(t *testing.T) {
	for _, tt := range []struct {
		disturbed bool
		code      result.ReasonCode
		floor     float64 // of p99
		usable    bool
	}{{true, "steady", 9, true}, {false, "steady", 9, false}, {true, "own-lag", 9, false}, {true, "steady", 2, false}} {
		run := spoilt(1, func(s *result.Summary, d *result.Distribution) {
			d.Update("99", func(f *result.Figure) { f.FloorRatio = &tt.floor })
			s.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: tt.code, Percentile: "50"}}}
		})
		c := &CellOutcome{Cell: Cell{Name: "x/y", Disturbed: tt.disturbed}, Trials: []TrialOutcome{{Round: 1, Run: run}}}
		figures := readRounds(c, "p99", "", "").figures
		if got := figures[1].Unfit == ""; got != tt.usable {
			t.Errorf("%+v: %+v", tt, figures[1])
		}
	}
}

// If a whole run is suspect, none of its percentiles decides, not even those below a limit that the
// run also has. Percentiles between the highest valid and the first suspect one decide nothing either.
func TestPercentileOfSuspectRun(t *testing.T) {
	tail := result.Reason{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "99.9"}
	limits := []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "99", From: "99.9", Why: "36 % own lag"}}
	invalid := []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "99", From: "99.9", Why: "36 % own lag", InvalidFrom: "99.9", InvalidWhy: "53 % of the tail"}}
	for _, tt := range []struct {
		verdict result.Verdict
		figure  string
		says    string
	}{
		{result.Verdict{Status: result.Valid, Limits: limits, Reasons: []result.Reason{tail}}, "p50", ""},
		{result.Verdict{Status: result.Valid, Limits: limits, Reasons: []result.Reason{tail}}, "p99.5", "36 % own lag"},
		{result.Verdict{Status: result.Valid, Limits: invalid, Reasons: []result.Reason{tail}}, "p99.5", "invalid: 53 %"},
		{result.Verdict{Status: result.Valid, Limits: invalid, Reasons: []result.Reason{tail}}, "p50", ""},
		{result.Verdict{Status: result.Suspect, Limits: limits, Reasons: []result.Reason{tail, {Status: result.Suspect, Code: "cpu"}}}, "p50", "cpu"},
	} {
		run := spoilt(1, func(s *result.Summary, d *result.Distribution) {
			s.Verdict, d.Figures["99.5"] = tt.verdict, result.Figure{Value: 4e6}
		})
		if f := Read(run, tt.figure, ""); f.Missing != "" || f.Unsteady || (f.Unfit != "") != (tt.says != "") || !strings.Contains(f.Unfit, tt.says) {
			t.Errorf("%s: %+v, want %q", tt.figure, f, tt.says)
		}
	}
}

// unpaced is a run at rate: max.
func unpaced(received int64, perSecond float64) *result.Run {
	r := ms(1)
	r.Summary.Throughput = &result.Throughput{Messages: 1000, PerSecond: 1000, Received: received, ReceivedPerSecond: perSecond}
	return r
}

// Rounds that are unusable because of the system's behaviour are not left out of a comparison.
func TestNoRoundIsLeftOutForItsOutcome(t *testing.T) {
	some := func(nothing, something *result.Run) []*result.Run {
		return slices.Concat(slices.Repeat([]*result.Run{nothing}, 4), slices.Repeat([]*result.Run{something}, 6))
	}
	shifted := spoilt(9, func(s *result.Summary, _ *result.Distribution) {
		s.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: "steady", Metric: result.DeliveryResponse, Percentile: "50", Brief: "level shift"}},
			Limits: []result.Limit{{Metric: result.DeliveryResponse, From: "50", Why: "level shift"}}}
	})
	for _, tt := range []struct {
		name, figure string
		x, y         []*result.Run
		says         string
	}{
		{"nothing received", "rate.received", some(unpaced(0, 0), unpaced(1000, 1100)), some(unpaced(1000, 1000), unpaced(1000, 1001)), "chosen by how the system did"},
		{"its level shifts", "p50", some(shifted, ms(1)), some(ms(2), ms(2.1)), "10 rounds"},
	} {
		s := small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: ["+tt.figure+"]}")
		d := Decide(outcome(t, s, Full, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
		if d.Verdict != Undecidable || !strings.Contains(d.Tests[0].Text, tt.says) {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}

	s := small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}")
	for _, refused := range []bool{true, false} {
		o := outcome(t, s, Full, map[string][]*result.Run{"x/r-100": rounds(fast...), "y/r-100": rounds(slow...)})
		c := o.Cell("x/r-100")
		if d := Decide(o)[0]; d.Verdict != Agrees {
			t.Fatalf("%+v", d)
		}
		c.Trials = append(c.Trials, TrialOutcome{Round: len(c.Trials) + 1, Refused: refused, Why: "nobody answers"})
		if d := Decide(o)[0]; d.Verdict != Undecidable {
			t.Errorf("%+v", d)
		}
	}
}

// Runs that decide nothing do not count for a test of steadiness.
func TestSteadyOfRunsThatDecideNothing(t *testing.T) {
	s := small(t, "      - {kind: steady, cells: [x/r-100], class: flat}")
	for _, how := range []func(*result.Summary, *result.Distribution){unstable, func(s *result.Summary, _ *result.Distribution) {
		s.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: "frozen"}}}
	}} {
		x := slices.Repeat([]*result.Run{spoilt(1, how)}, 6)
		if d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": x}))[0]; d.Verdict != Undecidable {
			t.Errorf("%+v", d)
		}
	}
}

// A course is not of a class if more runs are of another one than a test of courses errs in. Runs that were not
// assessed count as if they were of the class.
func TestSteadyOfRunsThatDiffer(t *testing.T) {
	s := small(t, "      - {kind: steady, cells: [x/r-100], class: flat}")
	other := func(s *result.Summary, _ *result.Distribution) { s.Steady.P50.Class = "drift" }
	for _, tt := range []struct {
		flat, drifting, unknown int
		want                    Verdict
	}{{3, 3, 0, Disagrees}, {2, 3, 1, Disagrees}, {4, 2, 0, Undecidable}, {6, 3, 0, Undecidable}, {5, 4, 0, Disagrees}, {0, 5, 0, Undecidable}, {0, 6, 0, Disagrees}, {6, 0, 0, Agrees}} {
		x := slices.Repeat([]*result.Run{ms(1)}, tt.flat)
		for range tt.drifting {
			x = append(x, spoilt(1, other))
		}
		for range tt.unknown {
			x = append(x, spoilt(1, unstable))
		}
		if d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": x}))[0]; d.Verdict != tt.want {
			t.Errorf("%+v: %+v", tt, d)
		}
	}
}
