package selftest

import (
	"testing"

	"sixnines/result"
	"sixnines/scenario"
)

// A floor is taken only from a complete and valid run, and has only percentiles that the
// sample supports.
func TestFloorFigures(t *testing.T) {
	run := func(change func(*result.Run)) *result.Run {
		r := &result.Run{Header: result.Header{ID: "x", Pattern: "deliver", Rate: 1000, Size: 256}, Summary: &result.Summary{
			Verdict: result.Verdict{Status: result.Suspect},
			Histograms: map[result.Metric]*result.Distribution{
				result.DeliveryResponse: {Figures: map[result.Percentile]result.Figure{"50": {Value: 80e3}, "99": {Value: 1e6, AtLeast: true}}},
				result.LagOwn:           {Figures: map[result.Percentile]result.Figure{"50": {Value: 500}}},
			}}}
		change(r)
		return r
	}
	for name, tt := range map[string]struct {
		change func(*result.Run)
		want   Verdict
	}{
		"good":     {func(*result.Run) {}, Passed},
		"missing":  {func(r *result.Run) { r.Counters.Missing = 1 }, Failed},
		"invalid":  {func(r *result.Run) { r.Summary.Verdict.Status = result.Invalid }, Failed},
		"overload": {func(r *result.Run) { r.Summary.Verdict.Status = result.Unstable }, Failed},
		"nothing":  {func(r *result.Run) { r.Summary.Histograms = nil }, Failed},
	} {
		if got := Conclude("", floorFigures("", run(tt.change))...).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	f := FloorOf(run(func(*result.Run) {}))
	if p := f.Percentiles[result.DeliveryResponse]; len(f.Percentiles) != 1 || len(p) != 1 || p["50"] != 80e3 || f.Rate != 1000 || f.Size != 256 || f.Pattern != "deliver" || f.ID != "x" {
		t.Errorf("%+v", f)
	}
}

func TestFloorLoads(t *testing.T) {
	b := &Bench{Load: Load{scenario.PerSecond(1000), 256, scenario.Deliver}}
	if got := b.floorLoads(); len(got) != 3 || got[0] != b.Load || got[1].Pattern != scenario.RoundTrip || got[2].Rate != scenario.PerSecond(10_000) {
		t.Errorf("%v", got)
	}
	b.Load.Pattern = scenario.RoundTrip
	if got := b.floorLoads(); len(got) != 2 {
		t.Errorf("%v", got)
	}
	b.Short = true
	if got := b.floorLoads(); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
