package scenario

import (
	"errors"
	"math"
	"strings"
	"testing"

	"sixnines/internal/stats"
)

// Objectives that guard nothing, or that a run could never come to show, are
// refused where they stand.
func TestImpossibleObjectives(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no list", "objectives: lost == 0\n", "x.yaml:1:13: objectives is \"lost == 0\", not a list (what the run must show"},
		{"no objective", "objectives:\n  - lost == 0\n  - delivery.responce p99 < 5ms\n", "x.yaml:3:5: nothing is called \"delivery.responce\" (there are percentiles such as p99.9, publish.response"},
		{"an empty item", "objectives:\n  -\n", "objectives[0] has no value"},
		{"a mapping", "objectives: [{lost: 0}]\n", "x.yaml:1:14: objectives[0] is a mapping, not an objective"},
		{"twice", "objectives:\n  - lost == 0\n  - rate >= 99%\n  - lost  ==  0\n", "x.yaml:4:5: the objective \"lost == 0\" is given twice (it is first given in line 2; remove one of them)"},
		{"a counter that is and is not", "objectives: [lost == 0, missing > 0]\n", "x.yaml:1:25: the objectives \"lost == 0\" and \"missing > 0\" can never both be met"},
		{"nothing between", "objectives: [duplicated > 3, duplicated < 4]\n", "can never both be met"},
		{"slower than itself", "objectives: [delivery.response p99 > 2ms, delivery.response p99 <= 2ms]\n", "can never both be met"},
		{"a median above the maximum", "objectives: [delivery.response max < 5ms, delivery.response p50 > 5ms]\n", "can never both be met"},
		{"no rate between", "objectives: [rate < 99.9%, rate >= 99.9%]\n", "can never both be met"},
		{"delivery of publish", "workload: {pattern: publish}\nobjectives: [delivery.response max < 5ms]\n", "x.yaml:2:14: \"delivery.response max < 5ms\": the pattern publish has no consumers (name publish.response, or"},
		{"delivery of round trips", "workload: {pattern: roundtrip}\nobjectives: [delivery.service max < 5ms]\n", "the pattern roundtrip measures whole round trips"},
		{"round trip of deliveries", "objectives: [roundtrip.response max < 5ms]\n", "the pattern deliver has no round trips (name delivery.response"},
		{"last of one", "objectives: [delivery.last max < 5ms]\n", "each message goes to one consumer, so the first is the last (name delivery.response)"},
		{"losses of publish", "workload: {pattern: publish}\nobjectives: [lost == 0]\n", "the pattern publish receives nothing, so this is always 0"},
		{"response flat out", "workload: {rate: max}\nobjectives: [delivery.response max < 5ms]\n", "rate: max has no schedule, so only service times (name delivery.service, or give the load a rate)"},
		{"response of a closed loop", "workload: {loop: closed}\nobjectives: [delivery.response max < 5ms]\n", "a closed loop has no schedule, so only service times"},
		{"lag flat out", "workload: {rate: max}\nobjectives: [lag.own max < 5ms]\n", "rate: max has no schedule to be late for"},
		{"rate of a closed loop", "workload: {loop: closed}\nobjectives: [rate >= 99%]\n", "a closed loop has no schedule to hold the rate against"},
		{"too short", "objectives: [delivery.response p99.99 < 5ms]\n", "x.yaml:1:14: p99.99 of delivery.response at 1000/s for 10s cannot be decided: it needs 36887 messages (lengthen phases.duration (--duration) to 37s, or raise the rate, or choose a lower percentile)"},
		{"too short below the median", "objectives: [delivery.response p0.01 > 5ms]\n", "it needs 36887 messages"},
		{"too few messages", "workload: {rate: max, messages: 300}\nobjectives: [delivery.service p99 < 5ms]\n", "p99 of delivery.service at 300 messages cannot be decided: it needs 368 messages (raise workload.messages to 368, or choose a lower percentile)"},
		{"too few steps", "workload: {arrivals: \"step:10/s@10s,20/s@10s\"}\nobjectives: [delivery.response p99 < 5ms]\n", "p99 of delivery.response at these steps cannot be decided: it needs 368 messages (lengthen the steps"},
		{"too short a ramp", "workload: {arrivals: \"ramp:10/s..20/s\"}\nobjectives: [delivery.response p99 < 5ms]\n", "at these arrivals (ramp) for 10s cannot be decided: it needs 368 messages (lengthen phases.duration (--duration) to 25s"},
		{"too few bursts", "workload: {arrivals: \"burst:10@1s\"}\nobjectives: [delivery.response p99 < 5ms]\n", "cannot be decided"},
		{"too short for chance", "workload: {arrivals: poisson}\nobjectives: [delivery.response p99.99 < 5ms]\n", "p99.99 of delivery.response at 1000/s for 10s, poisson, cannot be decided: it needs 36887 messages (lengthen phases.duration (--duration) to 39s"},
		{"too much for a week", "workload: {rate: 10/s}\nobjectives: [delivery.response p99.9999999 < 5ms]\n", "(raise the rate or lengthen the window, or choose"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse("x.yaml", []byte(c.text))
			if err == nil {
				err = s.Validate()
			}
			wantError(t, err, c.want)
			var all Errors
			errors.As(err, &all)
			for _, e := range all {
				if e.Hint == "" {
					t.Errorf("no hint: %v", e)
				}
			}
		})
	}
}

func TestPossibleObjectives(t *testing.T) {
	for _, text := range []string{
		"objectives: [delivery.response p99.9 < 5ms, delivery.service p50 < 1ms, publish.response p99 < 5ms, lost == 0, rate >= 99.9%, lag.own p99 < 1ms]\n",
		"objectives: [delivery.response p99.9 < 5ms, delivery.response p99.9 < 4ms]\n", // a flag may ask for more than the file
		"objectives: [delivery.response p50 < 5ms, delivery.response p99 > 5ms, delivery.service p99 >= 1ms, delivery.service p99 <= 1ms]\n",
		"objectives: [duplicated > 3, duplicated < 5, lost == 0, corrupted == 1, rate >= 99.9%, rate <= 99.9%]\n",
		"objectives: []\n",
		"workload: {consumers: 2}\nobjectives: [delivery.last p99.9 < 5ms]\n",
		"workload: {pattern: publish}\nobjectives: [publish.response p99.9 < 5ms, not_sent == 0]\n",
		"workload: {pattern: request-reply}\nobjectives: [roundtrip.response p99.9 < 5ms, lost == 0]\n",
		"workload: {rate: max}\nobjectives: [delivery.service p99.9999 < 5ms]\n", // as many as come through
		"workload: {loop: closed}\nobjectives: [delivery.service p99.9999 < 5ms]\n",
		"workload: {rate: 3690/s, arrivals: poisson}\nphases: {duration: 1s}\nobjectives: [delivery.response p99.9 < 5ms]\n",
		"workload: {rate: 3500/s, arrivals: poisson}\nphases: {duration: 1s}\nobjectives: [delivery.response p99.9 < 5ms]\n", // unlikely, not impossible
		"workload: {rate: 368/s}\nphases: {duration: 1s}\nobjectives: [delivery.response p99 < 5ms]\n",
		"workload: {arrivals: \"trace:f\"}\nobjectives: [delivery.response p99.99 < 5ms]\n",
	} {
		if err := mustParse(t, text).Validate(); err != nil {
			t.Errorf("%s%v", text, err)
		}
	}
}

func TestObjectivesAreAdded(t *testing.T) {
	s := mustParse(t, "objectives: [lost == 0]\n")
	before := s.clone()
	if err := s.Apply(Override{"objectives[]", "rate >= 99%", "--slo"}, Override{"objectives[]", "delivery.response p99 < 1ms", "--slo"}); err != nil {
		t.Fatal(err)
	}
	if len(s.Objectives) != 3 || s.Objectives[0].String() != "lost == 0" || s.Objectives[2].String() != "delivery.response p99 < 1ms" || len(before.Objectives) != 1 {
		t.Errorf("%v; before %v", s.Objectives, before.Objectives)
	}
	wantError(t, s.Apply(Override{"objectives[]", "lots == 0", "--slo"}), "--slo: nothing is called \"lots\"")
	wantError(t, s.Apply(Override{"workload.rate[]", "1/s", "--set"}), "--set: workload.rate is no list to add to")
	if len(s.Objectives) != 3 {
		t.Errorf("refused, and yet %v", s.Objectives)
	}
	if err := s.Apply(Override{"objectives[]", "lost == 0", "--slo"}); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Validate(), "--slo: the objective \"lost == 0\" is given twice (it is first given in line 1; remove one of them)")
	if err := s.Apply(Override{"objectives", "[duplicated == 0]", "--set"}); err != nil || len(s.Objectives) != 1 {
		t.Errorf("replaced by %v, %v", s.Objectives, err)
	}
	if err := s.Apply(Override{"target.options.list[]", "x", ""}); err != nil || s.Target.Options["list[]"] != "x" {
		t.Errorf("an option's name is the driver's: %v, %v", s.Target.Options, err)
	}
}

func TestObjectivesMadeInGo(t *testing.T) {
	for _, o := range []Objective{{}, {Subject: "lost", Op: "!="}, {Subject: "delivery.response", Op: "<", Limit: 5e6}, {Subject: "rate", Op: ">=", Limit: -1}} {
		s := Scenario{Objectives: []Objective{o}}
		err := s.Validate()
		if err == nil || !strings.Contains(err.Error(), "objectives[0]") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	s := Scenario{Objectives: []Objective{}}
	if s.Normalise(); s.Objectives != nil {
		t.Error("an empty list is not nothing")
	}
	s = Scenario{Objectives: []Objective{{Subject: "lost", Op: "=="}}}
	s.clone().Objectives[0].Subject = "late"
	if s.Objectives[0].Subject != "lost" {
		t.Error("a copy shares its objectives")
	}
}

// What is refused beforehand is what statistics would refuse afterwards.
func TestSamplesAreThoseOfTheStatistics(t *testing.T) {
	for _, percent := range []float64{0.001, 1, 10, 49.9, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999, 99.99999} {
		o := Objective{Subject: "delivery.response", Percent: percent, Op: "<", Limit: 1}
		if got, want := o.Samples(), stats.MinSamples(stats.Fraction(percent), 0.95); got != want {
			t.Errorf("p%g takes %d messages, by the statistics %d", percent, got, want)
		}
	}
	if n := (Objective{Subject: "delivery.response", Percent: 100}).Samples(); n != 0 {
		t.Errorf("a maximum takes %d", n)
	}
	if n := (Objective{Subject: "delivery.response", Percent: math.Nextafter(100, 0)}).Samples(); n < 1e12 {
		t.Errorf("as good as the maximum takes %d", n)
	}
}
