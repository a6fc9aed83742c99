package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/report"
	"sixnines/result"
	"sixnines/scenario"
)

// overall says how the runs of a scenario stand to its objectives together.
func (s *set) overall(x *repeated) []result.Objective {
	return overall(x.scenario.Objectives, x.runs, s.rounds)
}

// overall says how runs stand to objectives together: one is met if it was met
// in every run that was planned, missed if it was in any. Runs are not pooled:
// each has to show it by itself.
func overall(objectives []scenario.Objective, runs []*result.Run, planned int) []result.Objective {
	var all []result.Objective
	for _, o := range objectives {
		all = append(all, together(o.String(), runs, planned))
	}
	return all
}

func together(text string, runs []*result.Run, planned int) result.Objective {
	counts := map[judge.Outcome]int{}
	first := map[judge.Outcome]string{}
	for i, run := range runs {
		outcome, found := judge.Meaningless, "the run was cut short: it has no verdict"
		if run.Summary != nil {
			found = "the result does not speak of it"
			for _, o := range run.Summary.Objectives {
				if o.Text == text {
					outcome, found = judge.Outcome(o.Outcome), o.Found
				}
			}
		}
		if counts[outcome]++; counts[outcome] == 1 {
			first[outcome] = fmt.Sprintf("run %d: %s", i+1, found)
		}
	}
	made := len(runs)
	for _, outcome := range []judge.Outcome{judge.Missed, judge.Meaningless, judge.Undecided} {
		if n := counts[outcome]; n > 0 {
			return result.Objective{Text: text, Outcome: string(outcome), Found: fmt.Sprintf("in %d of %s (%s)", n, plural(made, "run"), first[outcome])}
		}
	}
	if made < planned {
		return result.Objective{Text: text, Outcome: string(judge.Undecided), Found: fmt.Sprintf("met in %s, but %d were to be made", plural(made, "run"), planned)}
	}
	if made == 1 {
		return result.Objective{Text: text, Outcome: string(judge.Met), Found: strings.TrimPrefix(first[judge.Met], "run 1: ")}
	}
	return result.Objective{Text: text, Outcome: string(judge.Met), Found: fmt.Sprintf("in each of %s", plural(made, "run"))}
}

// suite is what the runs come to together, for a JUnit file.
func (s *set) suite() report.JUnitSuite {
	all := report.JUnitCase{Name: "runs", Output: fmt.Sprintf("%d of %s made", len(s.runs), plural(len(s.plan), "run"))}
	if s.stopped != "" {
		all.Failure, all.Message = "incomplete", fmt.Sprintf("%d of %s made: %s", len(s.runs), plural(len(s.plan), "run"), s.stopped)
	}
	x := report.JUnitSuite{Name: "overall", Cases: []report.JUnitCase{all}}
	for _, r := range s.scenarios {
		for _, o := range s.overall(r) {
			c := report.ObjectiveCase(o)
			if len(s.scenarios) > 1 {
				c.Name = r.label + ": " + c.Name
			}
			x.Cases = append(x.Cases, c)
		}
	}
	return x
}

// setObject is the JSON form of a set.
type setObject struct {
	Directory string        `json:"directory"`
	Planned   int           `json:"planned"`
	Stopped   string        `json:"stopped,omitempty"` // why not all were made
	Scenarios []setScenario `json:"scenarios"`
	Runs      []setRun      `json:"runs"` // those made, in their order
}

// setScenario is one scenario of a set.
type setScenario struct {
	Name string `json:"name"`
	Set  string `json:"set"` // what its runs carry in their headers
	// Objectives are those of the scenario: met is what was met in every run that
	// was planned.
	Objectives []result.Objective `json:"objectives"`
}

// setRun is one run of a set.
type setRun struct {
	Scenario string          `json:"scenario"`
	Repeat   int             `json:"repeat"` // from 1
	Seed     uint64          `json:"seed"`
	Summary  json.RawMessage `json:"summary"` // as run --json prints it
}

func (s *set) object() (setObject, error) {
	o := setObject{Directory: s.dir, Planned: len(s.plan), Stopped: s.stopped}
	for _, x := range s.scenarios {
		o.Scenarios = append(o.Scenarios, setScenario{Name: x.label, Set: x.set, Objectives: append([]result.Objective{}, s.overall(x)...)})
	}
	for i, run := range s.runs {
		var b bytes.Buffer
		if err := report.JSON(&b, run); err != nil {
			return o, err
		}
		r := s.made[i]
		o.Runs = append(o.Runs, setRun{Scenario: r.of.label, Repeat: r.round, Seed: r.seed, Summary: b.Bytes()})
	}
	return o, nil
}
