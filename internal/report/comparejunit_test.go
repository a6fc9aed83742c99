package report

import (
	"testing"

	"sixnines/internal/compare"
)

// With a gate a subject that is worse fails, and an undecided one does unless that is allowed; without a gate both pass.
func TestCompareJUnit(t *testing.T) {
	c := &compare.Comparison{Outcome: compare.Slower, Text: "B is slower", Gate: &compare.Gate{Answer: compare.Worse, Judged: []compare.Judged{
		{Of: compare.OfPercentile, Percentile: "50", Answer: compare.NotWorse, Text: "less"},
		{Of: compare.OfPercentile, Percentile: "90", Answer: compare.Worse, Text: "more"},
		{Of: compare.OfPercentile, Percentile: "99", Answer: compare.Open, Text: "unknown"}}}}
	for _, tt := range []struct {
		gate, allowed bool
		failed        map[string]string // by case
		skipped       string
	}{
		{false, false, nil, ""},
		{true, false, map[string]string{"p90": "worse", "p99": "undecided"}, ""},
		{true, true, map[string]string{"p90": "worse"}, "p99"},
	} {
		x := CompareJUnit(c, tt.gate, tt.allowed)
		if len(x.Cases) != 4 || x.Cases[0].Name != "outcome" || x.Cases[0].Output != c.Text {
			t.Errorf("%+v", x.Cases)
		}
		for _, k := range x.Cases {
			if k.Failure != tt.failed[k.Name] || (k.Skipped != "") != (k.Name == tt.skipped) || k.Error != "" {
				t.Errorf("gate %v, allowed %v: %+v", tt.gate, tt.allowed, k)
			}
		}
	}
	if x := CompareJUnit(&compare.Comparison{Outcome: compare.Nothing, Text: "none", Gate: &compare.Gate{}}, false, false); x.Cases[0].Error != "none" {
		t.Errorf("%+v", x.Cases)
	}
}
