package scenario

import (
	"strings"
	"testing"
	"time"
)

// Consumers that come late or pause are read, written and read again alike, and
// change the defaults that would spoil their backlog.
func TestConsuming(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   Consumer
		warmup time.Duration
		drain  time.Duration
		stops  bool
	}{
		{"workload: {rate: max, messages: 5, consumer: {from: filled}}\n", Consumer{From: Begin{Filled: true}}, 0, lateDrain, true},
		{"workload: {consumer: {from: 3s}}\nphases: {drain: 5s}\n", Consumer{From: Begin{After: 3 * time.Second}}, 0, 5 * time.Second, false},
		{"workload: {consumer: {pause: 5s@2s}}\n", Consumer{Pause: Pause{For: 5 * time.Second, At: 2 * time.Second}}, 2 * time.Second, 10 * time.Second, false},
		{"workload: {consumer: {from: 1s, pause: 1.5s@0s}}\n", Consumer{From: Begin{After: time.Second}, Pause: Pause{For: 1500 * time.Millisecond}}, 0, lateDrain, false},
	} {
		s, err := Parse("x.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		s.Normalise()
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("y.yaml", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := again.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, s := range []*Scenario{s, again} {
			s.Normalise()
			if s.Workload.Consumer != c.want || s.Phases.Warmup != c.warmup || s.Phases.Drain != c.drain || s.Parts()[0].Stops != c.stops {
				t.Errorf("%s: %+v, warm-up %v, drain %v, stops %v", c.text, s.Workload.Consumer, s.Phases.Warmup, s.Phases.Drain, s.Parts()[0].Stops)
			}
		}
	}
}

// Of several workloads one fills and drains: it alone has no warm-up, and stops.
func TestConsumingBesideOthers(t *testing.T) {
	s, err := Parse("x.yaml", []byte("workloads:\n  live: {rate: 10/s}\n  bulk: {rate: 100/s, for: 2s, consumer: {from: filled}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Normalise()
	live, bulk := s.Parts()[0], s.Parts()[1]
	if live.Phases.Warmup != 2*time.Second || live.Stops || bulk.Phases.Warmup != 0 || !bulk.Stops || s.Phases.Drain != lateDrain {
		t.Errorf("live: warm-up %v, stops %v; bulk: warm-up %v, stops %v; drain %v", live.Phases.Warmup, live.Stops, bulk.Phases.Warmup, bulk.Stops, s.Phases.Drain)
	}
}

func TestConsumingImpossible(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"workload: {consumer: {from: soon}}\n", `x.yaml:1:29: "soon" does not say when consumers begin (write filled, or a time after the start of the window, such as 30s)`},
		{"workload: {consumer: {from: 0s}}\n", "does not say when consumers begin"},
		{"workload: {consumer: {pause: 5s}}\n", `"5s" does not say how long consumers pause and when (write the length and the start, such as 5s@20s)`},
		{"workload: {consumer: {pause: 0s@5s}}\n", "does not say how long consumers pause"},
		{"workload: {consumer: {pause: 5s@10s}}\n", "x.yaml:1:30: the pause begins at 10s, when the window of 10s is over"},
		{"workload: {consumer: {from: 10s}}\n", "consumers come after 10s, when the window of 10s is over (write from: filled"},
		{"workload: {consumer: {from: filled}}\nphases: {warmup: 1s}\n", "x.yaml:2:18: messages of a warm-up without consumers would be part of the backlog (leave phases.warmup out)"},
		{"workload: {loop: closed, consumer: {from: filled}}\n", "a closed loop waits for deliveries, and there are none while consumers are away"},
		{"workload: {in_flight: {each: 1}, consumer: {from: filled}}\n", "x.yaml:1:30: producers that wait for each answer are blocked while consumers are away"},
		{"workload: {pattern: roundtrip, consumer: {pause: 1s@1s}}\n", "consumers that start late or pause need the pattern deliver"},
		{"workload: {pattern: publish, consumer: {from: filled}}\n", "the pattern publish has no consumers to set"},
		{"workload: {consumer: {from: 1s}}\nphases: {until: delivery.response p99 ±5%}\n", "the latencies of a backlog depend on its length"},
	} {
		s, err := Parse("x.yaml", []byte(c.text))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	made := &Scenario{Workload: Workload{Consumer: Consumer{Pause: Pause{At: time.Second}}}}
	if err := made.Validate(); err == nil || !strings.Contains(err.Error(), "at an impossible time") {
		t.Errorf("a pause without a length: %v", err)
	}
}
