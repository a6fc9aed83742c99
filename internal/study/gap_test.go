package study

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A reason is said once, in words, with all that it concerns.
func TestReasonsAreSaidOnce(t *testing.T) {
	drifts := func(p50 float64) *result.Run {
		return spoilt(p50, func(s *result.Summary, _ *result.Distribution) {
			s.Verdict = result.Verdict{Status: result.Suspect, Limits: []result.Limit{{Metric: result.DeliveryResponse, From: "50", Why: "drift"}},
				Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonSteady, Metric: result.DeliveryResponse, Percentile: "50", Brief: "drift"}}}
		})
	}
	lags := func(p50 float64, brief string) *result.Run {
		run := spoilt(p50, suspectFor(result.ReasonReceiveLag))
		run.Summary.Verdict.Reasons[0].Brief, run.Summary.Verdict.Limits[0].Why = brief, brief
		return run
	}
	s := small(t, "      - {kind: above, cells: [x/r-100, y/r-100], figures: [p50, p99], bound: 1ms}")
	x := append(rounds(2, 2, 2), drifts(2), lags(2, "55 % receive lag"), lags(2, "61 % receive lag"))
	y := append(rounds(2, 2, 2, 2, 2), lags(2, "58 % receive lag"))
	f := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": x, "y/r-100": y}))[0].Tests[0]
	const want = "suspect (no steady state): p50 and p99 of x/r-100 (round 4); " +
		"suspect (receive lag): p50 and p99 of x/r-100 (rounds 5 and 6); p50 and p99 of y/r-100 (round 6)"
	if f.Verdict != Undecidable || f.Text != want {
		t.Errorf("%+v\nwant %s", f, want)
	}
}

func TestNumbered(t *testing.T) {
	for want, rounds := range map[string][]int{"round 2": {2}, "rounds 2 and 3": {2, 3}, "rounds 2, 6 and 8": {2, 6, 8}, "rounds 1 to 6": {1, 2, 3, 4, 5, 6}} {
		if got := numbered(rounds); got != want {
			t.Errorf("%v: %q, want %q", rounds, got, want)
		}
	}
}

// A round in which fewer messages were due than a figure takes is left out: its seed fixes that before
// the run. One in which fewer came by what the system did is not.
func TestScarceRounds(t *testing.T) {
	short := func(scheduled int64, mode string) *result.Run {
		run := spoilt(1, func(_ *result.Summary, d *result.Distribution) { d.Figures["99"] = result.Figure{Needs: 368} })
		run.Counters.Scheduled, run.Header.Mode = scheduled, mode
		return run
	}
	const open, flat = result.ModeOpen, result.ModeFlatOut
	for _, tt := range []struct {
		name     string
		short    *result.Run
		rounds   int
		want     Verdict
		leftOut  bool
		explains string
	}{
		{"too few were due", short(366, open), 7, Agrees, true, "left out, since fewer messages were due than the 368 that it takes, which the schedule fixes before the run: p99 of x/r-100 and y/r-100 (round 7)"},
		{"too few were due, and too few rounds are left", short(366, open), 6, Undecidable, true, "it takes 6 rounds of each cell that can be used"},
		{"enough were due, and did not come", short(400, open), 7, Undecidable, false, "chosen by how the system did"},
		{"flat out", short(366, flat), 7, Undecidable, false, "chosen by how the system did"},
	} {
		for _, test := range []string{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p99]}", "{kind: below, cells: [x/r-100, y/r-100], figures: [p99], bound: 100ms}"} {
			s := small(t, "      - "+test)
			x := append(rounds(fast...)[:tt.rounds-1:tt.rounds-1], tt.short)
			y := append(rounds(slow...)[:tt.rounds-1:tt.rounds-1], tt.short)
			f := Decide(outcome(t, s, Full, map[string][]*result.Run{"x/r-100": x, "y/r-100": y}))[0].Tests[0]
			if strings.Contains(test, "below") && tt.rounds == 6 {
				continue // five rounds whose own intervals are all below it
			}
			if f.Verdict != tt.want || strings.Contains(f.Text, "left out") != tt.leftOut || strings.Contains(test, "faster") && !strings.Contains(f.Text, tt.explains) {
				t.Errorf("%s, %s: %+v", tt.name, test, f)
			}
		}
	}
}
