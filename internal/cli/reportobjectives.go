package cli

import (
	"errors"
	"slices"

	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// parseObjectives reads the values of --slo.
func parseObjectives(texts []string) ([]scenario.Objective, error) {
	var (
		all  []scenario.Objective
		errs scenario.Errors
	)
	for _, text := range texts {
		o, err := scenario.ParseObjective(text)
		var wrong *scenario.Error
		if errors.As(err, &wrong) {
			wrong.File = "--slo"
			errs = append(errs, wrong)
		}
		all = append(all, o)
	}
	if len(errs) > 0 {
		return nil, &fault{exitUsage, errs, "sixnines run --help explains objectives"}
	}
	return all, nil
}

// withObjectives returns the runs judged by more objectives than they were made with. The
// outcomes of a file's own objectives stay unchanged.
func withObjectives(runs []*result.Run, more []scenario.Objective) []*result.Run {
	all := make([]*result.Run, len(runs))
	for i, run := range runs {
		if run.Header.Background {
			all[i] = run // which is not judged
			continue
		}
		held := *run
		held.Header.Objectives = slices.Clone(run.Header.Objectives)
		if run.Summary != nil {
			s := *run.Summary
			s.Objectives = slices.Clone(s.Objectives)
			held.Summary = &s
		}
		for _, o := range more {
			o = o.Of(scenario.Pattern(run.Header.Pattern))
			text := o.String()
			if slices.Contains(held.Header.Objectives, text) {
				continue
			}
			held.Header.Objectives = append(held.Header.Objectives, text)
			if held.Summary != nil {
				d := judge.Decide(run, o)
				held.Summary.Objectives = append(held.Summary.Objectives, result.Objective{Text: text, Outcome: string(d.Outcome), Found: d.Text, Brief: d.Brief})
			}
		}
		all[i] = &held
	}
	return all
}

// judgedAll returns the error of a report with objectives: that of run for the worst of
// the runs. A run that was cut short shows nothing.
func (p passing) judgedAll(runs []*result.Run) error {
	var t tally
	for _, run := range runs {
		t.run(run)
		if run.Summary == nil && !run.Header.Background {
			t.missed++ // which is more than an objective that is undecided
		}
	}
	return p.end(t)
}
