package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

func TestFloorFlagsWhatIsNearIt(t *testing.T) {
	run := richRun()
	d := run.Summary.Histograms[result.DeliveryResponse]
	for p := range d.All() {
		d.Update(p, func(f *result.Figure) { f.FloorRatio = nil })
	}
	for p, ratio := range map[string]float64{"50": 2.99, "90": 3, "99": 0.4} {
		d.Update(result.Percentile(p), func(f *result.Figure) { f.FloorRatio = &ratio })
	}
	want := map[string]bool{"50": true, "99": true}
	for _, f := range subjectOf(run).column(result.DeliveryResponse).Figures {
		if f.nearFloor() != want[string(f.Percentile)] {
			t.Errorf("p%s at %v times the floor: marked %v, want %v", f.Percentile, f.FloorRatio, f.nearFloor(), want[string(f.Percentile)])
		}
		if marked := strings.Contains(f.mark(), "near-floor"); marked != want[string(f.Percentile)] {
			t.Errorf("p%s: mark %q", f.Percentile, f.mark())
		}
	}
	for _, c := range charts([]*subject{subjectOf(run)}) {
		floors := 0
		for _, l := range c.Lines {
			if l.Name == "noise floor" {
				floors++
				if len(l.X) != 5 || l.Dash == 0 {
					t.Errorf("%s: the floor has %d points and dash %d, want 5 (the maximum has no place) and a dash", c.Key, len(l.X), l.Dash)
				}
			}
		}
		if wanted := c.Key == "percentiles-delivery"; (floors == 1) != wanted {
			t.Errorf("%s has %d floors", c.Key, floors)
		}
	}
	text := strings.Join(strings.Fields(terminal(t, Options{Width: 120}, run)), " ")
	for _, say := range []string{"only 2.9 × the noise floor", "measured 2026-11-20 09:30 UTC by sixnines 0.1.0", "deliver, 20,000/s × 1 KiB"} {
		if !strings.Contains(text, say) {
			t.Errorf("the report does not say %q", say)
		}
	}
	if !strings.Contains(terminal(t, Options{Width: 120}, openRun().make()), "No noise floor measured on this machine: sixnines selftest --only floor.") {
		t.Error("a run without a floor does not say how to get one")
	}
}
