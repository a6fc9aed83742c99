package cli

import (
	"testing"

	"sixnines/internal/judge"
	"sixnines/internal/study"
	"sixnines/internal/sweep"
	"sixnines/result"
	"sixnines/scenario"
)

// What is shown met passes, and nothing else; undecided passes only where it is allowed.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		status        result.Status
		outcomes      []string
		want, allowed int
	}{
		{result.Valid, nil, exitOK, exitOK},
		{result.Valid, []string{"met", "met"}, exitOK, exitOK},
		{result.Suspect, []string{"met"}, exitOK, exitOK},
		{result.Valid, []string{"met", "missed"}, exitThreshold, exitThreshold},
		{result.Valid, []string{"undecided", "missed"}, exitThreshold, exitThreshold},
		{result.Valid, []string{"undecided", "met"}, exitThreshold, exitOK},
		{result.Valid, []string{"meaningless"}, exitThreshold, exitOK},
		{result.Valid, []string{"something new"}, exitThreshold, exitThreshold},
		{result.Invalid, []string{"missed"}, exitInvalid, exitInvalid},
		{result.Unstable, []string{"met"}, exitInvalid, exitInvalid},
	} {
		s := &result.Summary{Verdict: result.Verdict{Status: c.status}}
		for _, o := range c.outcomes {
			s.Objectives = append(s.Objectives, result.Objective{Outcome: o})
		}
		for allowed, want := range map[bool]int{false: c.want, true: c.allowed} {
			a, p, run := &app{}, passing{allowed}, &result.Run{Summary: s}
			if got := a.explain(nil, p.judged(run)); got != want {
				t.Errorf("%s, %v, undecided allowed: %t: exit code %d, want %d", c.status, c.outcomes, allowed, got, want)
			}
			if got := a.explain(nil, p.judgedAll([]*result.Run{run, {}})); got == exitOK {
				t.Errorf("%s, %v, undecided allowed: %t: a run that was cut short passes", c.status, c.outcomes, allowed)
			}
		}
	}
}

// A run that left something at the broker fails, unless it fails for more than that.
func TestLeavingIsNotPassing(t *testing.T) {
	for status, want := range map[result.Status]int{result.Valid: exitFailure, result.Invalid: exitInvalid} {
		s := &result.Summary{Verdict: result.Verdict{Status: status}, Left: []result.Leftover{{What: "stream", Name: "s", Why: "no right"}}}
		if got := (&app{}).explain(nil, passing{}.judged(&result.Run{Summary: s})); got != want {
			t.Errorf("%s: exit code %d, want %d", status, got, want)
		}
	}
}

// tried are trials at rates.
func tried(rates ...uint64) (all []sweep.Made) {
	for _, r := range rates {
		all = append(all, sweep.Made{Trial: sweep.Trial{Rate: scenario.PerSecond(r)}})
	}
	return all
}

// A search that meets nothing at any rate ends with 3, whatever is allowed.
func TestSearchOfNothingIsMissed(t *testing.T) {
	a, err := sweep.Search(func(sweep.Trial) (sweep.Observation, error) {
		return sweep.Observation{Outcome: judge.Missed, Limit: sweep.Latency, Found: "slow"}, nil
	}, sweep.SearchOptions{})
	if code := (&app{}).explain(nil, passing{allowUndecided: true}.end(answered(a))); err != nil || code != exitThreshold {
		t.Errorf("exit code %d, %v: %+v", code, err, a.Bracket)
	}
}

// A search for a rate and a study pass by the same rule.
func TestAnswersPass(t *testing.T) {
	p := func(allowed bool, x tally) int { return (&app{}).explain(nil, passing{allowed}.end(x)) }
	both := sweep.Bracket{Holds: 1, Fails: 2}
	for _, c := range []struct {
		name          string
		answer        sweep.Answer
		want, allowed int
	}{
		{"confirmed", sweep.Answer{Bracket: both, HoldsConfirmed: true, FailsConfirmed: true}, exitOK, exitOK},
		{"at least", sweep.Answer{Bracket: sweep.Bracket{Holds: 1}, HoldsConfirmed: true}, exitOK, exitOK},
		{"not confirmed above", sweep.Answer{Bracket: both, HoldsConfirmed: true}, exitThreshold, exitOK},
		{"not confirmed below", sweep.Answer{Bracket: both, FailsConfirmed: true}, exitThreshold, exitOK},
		{"nothing shown", sweep.Answer{}, exitThreshold, exitOK},
		{"none holds", sweep.Answer{Bracket: sweep.Bracket{Fails: 2}, FailsConfirmed: true, Trials: tried(2, 4)}, exitThreshold, exitThreshold},
		{"a lower one is undecided", sweep.Answer{Bracket: sweep.Bracket{Fails: 2}, FailsConfirmed: true, Trials: tried(1, 2)}, exitThreshold, exitOK},
	} {
		if got, allowed := p(false, answered(c.answer)), p(true, answered(c.answer)); got != c.want || allowed != c.allowed {
			t.Errorf("%s: exit codes %d and %d, want %d and %d", c.name, got, allowed, c.want, c.allowed)
		}
	}
	compared, declared := study.Found{Kind: "faster", Verdict: study.Undecidable}, study.Found{Kind: study.KindUndecidable, Verdict: study.Undecidable}
	agreed := study.Found{Kind: "faster", Verdict: study.Agrees}
	for _, c := range []struct {
		name          string
		decision      study.Decision
		want, allowed int
	}{
		{"agrees", study.Decision{Verdict: study.Agrees, Tests: []study.Found{compared}}, exitOK, exitOK},
		{"disagrees", study.Decision{Verdict: study.Disagrees, Tests: []study.Found{compared}}, exitThreshold, exitThreshold},
		{"undecided", study.Decision{Verdict: study.Undecidable, Tests: []study.Found{compared, declared}}, exitThreshold, exitOK},
		{"a part is declared", study.Decision{Verdict: study.Undecidable, Tests: []study.Found{agreed, declared}}, exitOK, exitOK},
		{"declared", study.Decision{Verdict: study.Undecidable, Tests: []study.Found{declared}}, exitOK, exitOK},
	} {
		var x tally
		x.conclusions([]study.Decision{c.decision})
		if got, allowed := p(false, x), p(true, x); got != c.want || allowed != c.allowed {
			t.Errorf("%s: exit codes %d and %d, want %d and %d", c.name, got, allowed, c.want, c.allowed)
		}
	}
}
