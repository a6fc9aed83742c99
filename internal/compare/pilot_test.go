package compare

import (
	"testing"

	"sixnines/result"
)

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
