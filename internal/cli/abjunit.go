package cli

import (
	"slices"

	"sixnines/internal/report"
	"sixnines/result"
)

// writeSuites writes the JUnit file of an ab: what each comparison judges, and the objectives of each side over its runs,
// which are decided as on the screen. ended is the error that ended the series, or nil.
func (t *abRuns) writeSuites(ended error) error {
	runs := t.sides(true)
	var suites []report.JUnitSuite
	for _, c := range t.found {
		suites = append(suites, report.CompareJUnit(c, t.gate, t.passing.allowUndecided))
	}
	for i, arm := range t.arms {
		x := report.JUnitSuite{Name: "objectives of " + arm.label}
		for _, w := range workloadsOf(arm.scenario, runs[i]) {
			for _, o := range overall(w.Objectives, w.runs, t.planned()) {
				c := report.ObjectiveCase(o, t.passing.allowUndecided)
				c.Name = ofWorkload(w.Name) + c.Name
				x.Cases = append(x.Cases, c)
			}
		}
		if len(x.Cases) > 0 {
			suites = append(suites, x)
		}
	}
	if t.remains.Load() {
		var left []result.Leftover
		all := t.sides(false)
		for _, run := range slices.Concat(all[0], all[1]) {
			for _, part := range run.Parts() {
				if part.Summary != nil {
					left = append(left, part.Summary.Left...)
				}
			}
		}
		suites = append(suites, report.JUnitSuite{Name: "clean-up", Cases: []report.JUnitCase{report.CleanUpCase(left)}})
	}
	if ended != nil {
		suites = append(suites, wentWrong(ended))
	}
	return t.writeJUnit(t.junit, t.passing, nil, suites...)
}
