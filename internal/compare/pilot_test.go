package compare

import (
	"testing"

	"sixnines/result"
)

// A round of a pilot is what both sides at once used, and their p50 at once against that alone. A B that burns a processor
// is seen in either.
func TestPilot(t *testing.T) {
	of := func(p50 int64, broker float64) *result.Run {
		d := &result.Distribution{Count: 1000, Samples: 1000, Figures: map[result.Percentile]result.Figure{"50": {Value: p50}}}
		return &result.Run{Header: result.Header{Machine: []result.Fact{{Section: "go", Name: result.FactProcessors, Value: "2"}}},
			Series:  []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Vitals: map[result.Vital]float64{result.VitalProcessCPU: 0.5, result.VitalBrokerCPU: broker}}},
			Summary: &result.Summary{Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}}}
	}
	got := Pilot([2]*result.Run{of(100, 0.25), of(200, 0.75)}, [2]*result.Run{of(150, 0.25), of(190, 0.75)})
	if want := (result.PilotRound{Used: 0.75, Known: true, A: 1.5, B: 0.95}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if kind, reason, _ := Choose([]result.PilotRound{got}); kind != result.DesignApart || reason != result.DesignUse {
		t.Errorf("%s: %s", kind, reason)
	}
}

// Sides that use too much at once, or of which one is slower in each round, are measured apart; a single slow round asks
// for another one.
func TestChoose(t *testing.T) {
	fine, slowA, slowB := result.PilotRound{Used: 0.3, Known: true, A: 1.05, B: 0.9}, result.PilotRound{Used: 0.3, Known: true, A: 1.2, B: 1}, result.PilotRound{Used: 0.3, Known: true, A: 1, B: 1.2}
	busy, unknown := result.PilotRound{Used: 0.46, Known: true, A: 1, B: 1}, result.PilotRound{A: 1, B: 1}
	type rounds []result.PilotRound
	for name, tt := range map[string]struct {
		rounds rounds
		kind   result.DesignKind
		reason result.DesignReason
		more   bool
	}{
		"undisturbed":            {rounds{fine}, result.DesignBeside, result.DesignUndisturbed, false},
		"busy":                   {rounds{busy}, result.DesignApart, result.DesignUse, false},
		"unknown":                {rounds{unknown}, result.DesignApart, result.DesignUse, false},
		"slow once":              {rounds{slowA}, result.DesignBeside, result.DesignUndisturbed, true},
		"slow twice":             {rounds{slowB, slowB}, result.DesignBeside, result.DesignUndisturbed, true},
		"slow, then not":         {rounds{slowA, fine}, result.DesignBeside, result.DesignUndisturbed, false},
		"another side each":      {rounds{slowA, slowB}, result.DesignBeside, result.DesignUndisturbed, false},
		"slow each time":         {rounds{slowB, slowB, slowB}, result.DesignApart, result.DesignSlowed, false},
		"slow, and busy at last": {rounds{slowB, busy}, result.DesignApart, result.DesignUse, false},
	} {
		if kind, reason, more := Choose(tt.rounds); kind != tt.kind || reason != tt.reason || more != tt.more {
			t.Errorf("%s: %s, %s, %v", name, kind, reason, more)
		}
	}
}
