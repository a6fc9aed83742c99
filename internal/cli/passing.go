package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"sixnines/internal/judge"
	"sixnines/internal/study"
	"sixnines/result"
)

// passing is the only rule that turns a command's conclusions into its exit code. A
// conclusion passes only if it is shown to be met: one that is shown to be missed fails,
// and so does an undecided one, unless that is allowed.
type passing struct{ allowUndecided bool }

// flag adds --allow-undecided.
func (p *passing) flag(f *pflag.FlagSet) {
	f.BoolVar(&p.allowUndecided, "allow-undecided", false, "exit with 0 even if something is undecided; missed objectives still exit with 3")
}

// tally counts the outcomes of a command's conclusions.
type tally struct {
	invalid   int // runs that are INVALID or overloaded: nothing is concluded from them
	missed    int // shown missed
	undecided int // neither shown met nor shown missed
	left      int // runs that left something at the broker
}

// end returns the command's error, nil if all conclusions pass. INVALID and overloaded runs
// take precedence over missed conclusions.
func (p passing) end(t tally) error {
	switch {
	case t.invalid > 0:
		return status(exitInvalid)
	case t.missed > 0, t.undecided > 0 && !p.allowUndecided:
		return status(exitThreshold)
	case t.left > 0:
		return status(exitFailure)
	}
	return nil
}

// objectives counts objectives. An outcome that this version does not know counts as
// missed: it is not known to be undecided.
func (t *tally) objectives(all []result.Objective) {
	for _, o := range all {
		switch judge.Outcome(o.Outcome) {
		case judge.Met:
		case judge.Undecided, judge.Meaningless:
			t.undecided++
		default:
			t.missed++
		}
	}
}

// run counts the verdict and the objectives of a run's workloads. Background workloads are
// not judged. A workload without a summary has already ended with an error.
func (t *tally) run(run *result.Run) {
	for _, part := range run.Parts() {
		if part.Summary != nil && len(part.Summary.Left) > 0 {
			t.left++
		}
		if part.Summary == nil || part.Header.Background {
			continue
		}
		switch part.Summary.Verdict.Status {
		case result.Invalid, result.Unstable:
			t.invalid++
		default:
			t.objectives(part.Summary.Objectives)
		}
	}
}

// conclusions counts a study's decisions. What the study itself declares to be undecidable here is not
// asked for: a conclusion that only such tests keep from agreeing does not count.
func (t *tally) conclusions(all []study.Decision) {
	for _, d := range all {
		switch d.Verdict {
		case study.Agrees:
		case study.Undecidable:
			if slices.ContainsFunc(d.Tests, func(f study.Found) bool { return f.Kind != study.KindUndecidable && f.Verdict == study.Undecidable }) {
				t.undecided++
			}
		default:
			t.missed++
		}
	}
}

// decided returns the error of a command whose objectives have these outcomes.
func (p passing) decided(all []result.Objective) error {
	var t tally
	t.objectives(all)
	return p.end(t)
}

// judged returns the error of a command that made a run.
func (p passing) judged(run *result.Run) error {
	var t tally
	t.run(run)
	return p.end(t)
}
