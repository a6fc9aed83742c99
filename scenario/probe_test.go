package scenario

import (
	"testing"
	"time"
)

func TestProbed(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    Scenario
		rate float64
		want bool
	}{
		{"one connection, low rate", Scenario{}, 9_999, false},
		{"high rate", Scenario{}, 10_000, true},
		{"two producers' connections", Scenario{Workload: Workload{Producers: 2}}, 10, true},
		{"two consumers' connections", Scenario{Workload: Workload{Consumers: 2}}, 10, true},
		{"two producers on one connection", Scenario{Workload: Workload{Producers: 2, Connections: Connections{Producers: 1}}}, 10, false},
		{"flat out", Scenario{Workload: Workload{Rate: MaxRate(), Producers: 2}}, 0, false},
		{"flat out, asked for", Scenario{Workload: Workload{Rate: MaxRate()}, Record: Record{Probe: ProbeOn}}, 0, true},
		{"closed loop", Scenario{Workload: Workload{Loop: Closed, Producers: 2}}, 0, true},
		{"too short", Scenario{Workload: Workload{Producers: 2}, Phases: Phases{Duration: 999 * time.Millisecond}}, 10, false},
		{"ended by a number of messages", Scenario{Workload: Workload{Loop: Closed, Producers: 2, Messages: 10}}, 0, true},
		{"on", Scenario{Record: Record{Probe: ProbeOn}}, 10, true},
		{"off", Scenario{Workload: Workload{Producers: 2}, Record: Record{Probe: ProbeOff}}, 20_000, false},
	} {
		tt.s.Normalise()
		if err := tt.s.Validate(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := tt.s.Probed(tt.rate); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
