package selftest

import "testing"

// A single offset or drift beyond its bound fails the trial, and so do a bound that is too
// wide to be useful, and no estimate at all.
func TestClocksNotice(t *testing.T) {
	good := clockReading{offset: 1000, bound: 50, truth: 1050, drift: 1e-6, driftBound: 1e-6, drifts: 2e-6}
	delays := []int64{200, 300, 100}
	for name, tt := range map[string]struct {
		change func(*clockReading)
		want   Verdict
	}{
		"good":    {func(*clockReading) {}, Passed},
		"beyond":  {func(r *clockReading) { r.truth++ }, Failed},
		"drifted": {func(r *clockReading) { r.drifts = 2.1e-6 }, Failed},
		"vague":   {func(r *clockReading) { r.bound = 101 }, Failed},
	} {
		r := good
		tt.change(&r)
		if got := Conclude("", recovered("", []clockReading{r}, delays)...).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if Conclude("", recovered("", nil, delays)...).Verdict != Failed {
		t.Error("no estimates pass")
	}
}
