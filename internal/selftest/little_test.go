package selftest

import (
	"testing"

	"sixnines/result"
)

// littleRun is a run of ten seconds with a number of messages of one service time, and its
// sampler's counts.
func littleRun(t *testing.T, messages, service int64, sampled, tolerance float64) *result.Run {
	t.Helper()
	h := result.NewHistogram(1, 1e12, 3)
	if err := h.Record(service, messages); err != nil {
		t.Fatal(err)
	}
	return &result.Run{
		Header:   result.Header{Pattern: "deliver"},
		Metrics:  map[result.Metric]*result.Merged{result.DeliveryService: {Hist: h, Min: service, Max: service}},
		Counters: result.Counters{Sent: messages},
		Series: []result.Point{{Phase: result.PhaseClosing, Vitals: map[result.Vital]float64{
			"little.l_sampled": sampled, "little.samples": 5000, "little.span": 10e9, "little.tolerance": tolerance}}},
		Summary: &result.Summary{},
	}
}

// A leaked counter, a wrong time stamp and a broker with the wrong delay fail the trial.
// A check without power neither passes nor fails.
func TestLittleNotices(t *testing.T) {
	mean := int64(littleMean())
	l := float64(mean) * 1e4 / 10e9 // in flight
	for name, tt := range map[string]struct {
		run  *result.Run
		want Verdict
	}{
		"good":           {littleRun(t, 10_000, mean, l, 0.02), Passed},
		"a leak":         {littleRun(t, 10_000, mean, l*1.03, 0.02), Failed},
		"late stamps":    {littleRun(t, 10_000, mean*104/100, l, 0.02), Failed},
		"half the delay": {littleRun(t, 10_000, mean/2, l/2, 0.02), Failed},
		"no sampler":     {&result.Run{Summary: &result.Summary{}}, Failed},
	} {
		if got := Conclude("", lawful("", tt.run)...).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if f := lawful("", littleRun(t, 10_000, mean, l, 0.4))[0]; f.Verdict != NotAssessed || f.Reason == "" {
		t.Errorf("without power: %+v", f)
	}
	attributed := littleRun(t, 10_000, mean, l, 0.02)
	attributed.Summary.Verdict.Reasons = []result.Reason{{Code: "little"}}
	if Conclude("", lawful("", attributed)...).Verdict != Failed {
		t.Error("a verdict that names the law is not noticed")
	}
	for tolerance, want := range map[float64]Verdict{3: Passed, 0.1: Failed} {
		if f := powerless(littleRun(t, 40, 100_000, 0.0004, tolerance)); f.Verdict != want {
			t.Errorf("tolerance %g: %+v", tolerance, f)
		}
	}
}
