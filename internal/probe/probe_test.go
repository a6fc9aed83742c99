package probe

import (
	"maps"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/scenario"
)

// A probe takes the load's options and size, but one partition and one topic of
// its own, and its scenario arrives unchanged in its process.
func TestScenario(t *testing.T) {
	s := &scenario.Scenario{Target: scenario.Target{Driver: "kafka", Options: map[string]any{"partitions": 700, "topic": "orders", "acks": "all", "password": "hunter2"}},
		Workload: scenario.Workload{Producers: 70, Consumers: 4, Groups: 2, Topics: 3, Size: scenario.FixedSize(16 * scenario.KiB), Rate: scenario.PerSecond(700)},
		Phases:   scenario.Phases{Duration: time.Minute}}
	s.Normalise()
	p := Scenario(s, driver.Entry{Name: "kafka", ProbeOptions: map[string]any{"partitions": nil, "topic": nil}}, "host:9092", map[string]any{"monitoring": "m", "acks": "1"})
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := scenario.FromJSON("probe", text)
	if err != nil {
		t.Fatal(err)
	}
	got.Normalise()
	if want := map[string]any{"acks": "all", "password": "hunter2", "monitoring": "m"}; !maps.Equal(got.Target.Options, want) {
		t.Errorf("options %v, want %v", got.Target.Options, want)
	}
	w := got.Workload
	if w.Producers != 1 || w.Consumers != 1 || w.Topics != 1 || w.Groups != 1 || w.Size != s.Workload.Size || w.Rate.Float() != Rate ||
		got.Target.URL != "host:9092" || got.Phases.Warmup != 0 || got.Phases.Duration <= s.Phases.Duration+s.Phases.Warmup+s.Phases.Drain || got.Probed(1e6) {
		t.Errorf("%s", text)
	}
	if s.Target.Options["partitions"] != 700 {
		t.Error("the load's options were changed")
	}
}
