package report

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"sixnines/result"
)

// The probe's service time stands beside the load's, and is explained.
func TestProbeStandsBesideTheLoad(t *testing.T) {
	run := openRun().make()
	without := strings.Count(terminalOf(t, run), "SERVICE TIME OF THE PROBE")
	run.Header.Pattern = "deliver"
	d := *run.Summary.Histograms[result.DeliveryService]
	d.Figures = maps.Clone(d.Figures)
	d.Figures["50"] = result.Figure{Value: 123_456}
	run.Summary.Histograms[result.ProbeService] = &d
	text := terminalOf(t, run)
	if without != 0 || !strings.Contains(text, "SERVICE TIME OF THE PROBE") || !strings.Contains(text, "123 µs") {
		t.Errorf("%d without a probe: %s", without, text)
	}
	page := htmlOf(t, Options{}, run)
	if !strings.Contains(page, "Service time of the probe") || !strings.Contains(page, "The probe is one producer") {
		t.Error("the page does not show the probe")
	}
	run.Header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "m1"}, {Name: "m2"}}, Probe: &result.FleetProbe{Name: "m3"}}
	if text := terminalOf(t, run); !strings.Contains(text, "2 agents, and a probe on m3") {
		t.Errorf("where the probe ran is not shown: %s", text)
	}
	if page := htmlOf(t, Options{}, run); !strings.Contains(page, "Agent m3 had no part in the load") {
		t.Error("the page does not say where the probe ran")
	}
}

func terminalOf(t *testing.T, run *result.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, []*result.Run{run}, Options{Full: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
