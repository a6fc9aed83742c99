package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A result of several processes names each with its own figures; one of a segment says which it is.
func TestAgents(t *testing.T) {
	run := lossyRun()
	run.Header.Fleet = &result.Fleet{Agents: []result.Agent{
		{Name: "a", Host: "one", Segment: result.Segment{Index: 0, Of: 2}, Sent: 1234, Status: result.Suspect,
			Latencies: map[result.Metric]result.AgentLatency{result.DeliveryResponse: {Count: 1234, P50: 1e6, P99: 2e6, Max: 3e6}}},
		{Name: "b", Segment: result.Segment{Index: 1, Of: 2}, Lost: true},
	}}
	var text strings.Builder
	if err := writeMarkdown(&text, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 agents", "| a | one | 1 of 2 | 1,234 | 1.00 ms | 2.00 ms | 3.00 ms | SUSPECT |", "| b | – | 2 of 2 | 0 | – | – | – | lost: its result has no end |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	run.Header.Fleet.Agents[0].Service = &result.TimeService{Synchronised: true, Offset: -12_000, MostError: 3e6, Frequency: 5.25}
	text.Reset()
	if err := writeMarkdown(&text, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| SUSPECT | offset -12.0 µs, error at most 3.00 ms, +5.2 ppm |", "| lost: its result has no end | not known |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	run.Header.Fleet, run.Header.Segment = nil, &result.Segment{Index: 1, Of: 3}
	text.Reset()
	if err := writeMarkdown(&text, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "segment 2 of 3") || strings.Contains(text.String(), "**Agents**") {
		t.Error("the report of a segment does not say which it is, or lists agents")
	}
}
