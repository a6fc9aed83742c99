package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"sixnines/internal/judge"
	"sixnines/internal/study"
	"sixnines/result"
)

// passing is the one rule by which a command's conclusions become its exit code. What
// is shown met passes, and nothing else does: shown missed fails, and so does what is
// undecided, unless it is allowed.
type passing struct{ allowUndecided bool }

// flag adds --allow-undecided.
func (p *passing) flag(f *pflag.FlagSet) {
	f.BoolVar(&p.allowUndecided, "allow-undecided", false, "exit with 0 also where something is undecided; what is shown missed still exits with 3")
}

// tally counts how the conclusions of a command came out.
type tally struct {
	invalid   int // runs that are INVALID or overloaded: nothing is concluded from them
	missed    int // shown missed
	undecided int // neither shown met nor shown missed
}

// end is the command's end, nil where all passes. A run that shows nothing comes before
// what another one failed to show.
func (p passing) end(t tally) error {
	switch {
	case t.invalid > 0:
		return status(exitInvalid)
	case t.missed > 0, t.undecided > 0 && !p.allowUndecided:
		return status(exitThreshold)
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

// run counts the verdict and the objectives of a run's workloads. What is in the
// background is not judged. What has no summary ended with an error of its own.
func (t *tally) run(run *result.Run) {
	for _, part := range run.Parts() {
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

// conclusions counts what a study decided. A conclusion that the study itself declares
// to be not decidable here is not asked for.
func (t *tally) conclusions(all []study.Decision) {
	for _, d := range all {
		switch d.Verdict {
		case study.Agrees:
		case study.Undecidable:
			if slices.ContainsFunc(d.Tests, func(f study.Found) bool { return f.Kind != study.KindUndecidable }) {
				t.undecided++
			}
		default:
			t.missed++
		}
	}
}

// decided is the end of a command whose objectives came out so.
func (p passing) decided(all []result.Objective) error {
	var t tally
	t.objectives(all)
	return p.end(t)
}

// judged is the end of a command that made a run.
func (p passing) judged(run *result.Run) error {
	var t tally
	t.run(run)
	return p.end(t)
}
