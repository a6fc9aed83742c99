package scenario

import (
	"strings"
	"testing"
	"time"
)

const several = `seed: 7
target: {driver: kafka, options: {acks: all, partitions: 3}}
workloads:
  events: {rate: 5/s, size: 64B, objectives: [lost == 0]}
  traffic: {rate: max, producers: 2, options: {acks: none}, background: true, from: 2s, for: 3s}
phases: {warmup: 1s, duration: 20s}
`

func TestPartsOfSeveralWorkloads(t *testing.T) {
	s, err := Parse("several", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	parts := s.Parts()
	if len(parts) != 2 || parts[0].Name != "events" || parts[1].Name != "traffic" {
		t.Fatalf("%+v", parts)
	}
	events, traffic := parts[0], parts[1]
	if events.Workload.Size != FixedSize(64) || events.Phases.Duration != 20*time.Second || events.Phases.Warmup != time.Second || events.Stops || events.Background ||
		events.Seed != 7 || len(events.Objectives) != 1 || events.Target.Options["acks"] != "all" {
		t.Errorf("%+v", events.Scenario)
	}
	if !traffic.Workload.Rate.IsMax() || traffic.From != 2*time.Second || traffic.Phases.Duration != 3*time.Second || traffic.Phases.Warmup != 0 ||
		!traffic.Stops || !traffic.Background || traffic.Seed != 8 || len(traffic.Objectives) != 0 ||
		traffic.Target.Options["acks"] != "none" || traffic.Target.Options["partitions"] != 3 {
		t.Errorf("%+v", traffic.Scenario)
	}
	if s.Target.Options["acks"] != "all" {
		t.Error("a workload's options changed the target's")
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if second, err := again.Encode(); err != nil || string(second) != string(text) {
		t.Errorf("%v\n%s\nread back:\n%s", err, text, second)
	}
	shown, err := s.Redacted(func(name string) bool { return name == "acks" }).Encode()
	if err != nil || strings.Contains(string(shown), "acks: none") || strings.Contains(string(shown), "acks: all") {
		t.Errorf("%v\n%s", err, shown)
	}
}

func TestWorkloadsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"workload: {rate: 5/s}\nworkloads: {a: {}}":                                      "bad:1:",
		"workloads: {a: {}}\nobjectives: [lost == 0]":                                    "bad:2:",
		"workloads: {a: {rate: 5x}}":                                                     "bad:1:",
		"workloads: {a: {raet: 5/s}}":                                                    "did you mean rate",
		"workloads:\n  a: {rate: max}\n  b:\n    size: 1B":                               "bad:4:",
		"workloads:\n  a: {background: true}":                                            "nothing is judged",
		"workloads:\n  a: {from: 10s}":                                                   "beyond the window of 10s",
		"workloads:\n  a: {from: 5s, for: 6s}":                                           "beyond the window of 10s",
		"workloads:\n  'a b': {}":                                                        "is no name",
		"workloads:\n  a: {}\n  a: {}":                                                   "duplicate key",
		"workloads:\n  a: {}\n  b: {background: true, objectives: [lost == 0]}":          "bad:3:",
		"workloads:\n  a: {rate: max, messages: 5}":                                      "messages",
		"workloads:\n  a: {}\n  b:\n    pattern: publish\n    groups: 2":                 "bad:5:",
		"workloads: {a: {}}\nrecord: {raw: true}":                                        "record.raw",
		"workloads: {a: {}}\nphases: {until: delivery.response p99 ±5%, duration: 100s}": "phases.until",
		"workloads: [a]": "not a mapping",
	} {
		s, err := Parse("bad", []byte(text))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n: %v, want %q", text, err, want)
		}
	}
	s, err := Parse("flags", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(Override{Key: "workload.rate", Value: "9/s", Flag: "--rate"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "--rate") {
		t.Errorf("a flag for one of several workloads: %v", err)
	}
}
