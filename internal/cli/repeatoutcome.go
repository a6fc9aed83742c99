package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sixnines/internal/actioncost"
	"sixnines/internal/judge"
	"sixnines/internal/report"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// workloadRuns are the runs of one workload of a scenario.
type workloadRuns struct {
	scenario.Part
	runs []*result.Run
}

// workloadsOf returns the workloads of a scenario, with their parts of its runs.
func workloadsOf(s *scenario.Scenario, runs []*result.Run) []workloadRuns {
	var all []workloadRuns
	for _, part := range s.Parts() {
		w := workloadRuns{Part: part}
		for _, run := range runs {
			if p := run.Part(part.Name); p != nil {
				w.runs = append(w.runs, p)
			}
		}
		all = append(all, w)
	}
	return all
}

// byWorkload returns the parts of runs, those of one workload after those of another,
// so that the repeats of each stand beside each other.
func byWorkload(runs []*result.Run) []*result.Run {
	var order []string
	parts := map[string][]*result.Run{}
	for _, run := range runs {
		for _, p := range run.Parts() {
			name := p.Header.Workload
			if parts[name] == nil {
				order = append(order, name)
			}
			parts[name] = append(parts[name], p)
		}
	}
	var all []*result.Run
	for _, name := range order {
		all = append(all, parts[name]...)
	}
	return all
}

// outcomes are how the runs of one workload of a scenario stand to its objectives
// together.
type outcomes struct {
	of         string // whose, as far as there are several; empty: there are not
	cell       int    // the scenario's
	workload   scenario.Part
	objectives []result.Objective
	costs      []actioncost.CostSummary
	verdict    *report.SetVerdict
}

// overall says how the runs of each scenario stand to its objectives together, by its
// workloads.
func (s *set) overall() []outcomes {
	var all []outcomes
	for i, x := range s.cells {
		for _, w := range workloadsOf(x.scenario, s.runs(func(t trials.Trial) bool { return t.Cell == i })) {
			label := ""
			if len(s.cells) > 1 {
				label = x.label
			}
			all = append(all, outcomes{joinWords(label, w.Name), i, w.Part, overall(w.Objectives, w.runs, s.Rounds), actioncost.Summaries(each(w.runs, actioncost.Of)), report.SetVerdictOf(w.runs)})
		}
	}
	return all
}

// joinWords puts a space between two words if there are two.
func joinWords(a, b string) string { return strings.TrimSpace(a + " " + b) }

// overall says how runs stand to objectives together, as [judge.Together] has it.
func overall(objectives []scenario.Objective, runs []*result.Run, planned int) []result.Objective {
	found := each(runs, func(run *result.Run) judge.Shown {
		var x judge.Shown
		if t := run.Header.Trial; t != nil {
			x.Attempts = t.Attempts
		}
		if run.Summary != nil {
			x.Objectives = append([]result.Objective{}, run.Summary.Objectives...)
		}
		return x
	})
	return each(objectives, func(o scenario.Objective) result.Objective { return judge.Together(o.String(), found, planned) })
}

// suite is what the runs come to together, for a JUnit file.
func (s *set) suite() report.JUnitSuite {
	all := report.JUnitCase{Name: "runs", Output: fmt.Sprintf("%d of %s made", s.Count(trials.Made), plural(len(s.Trials), "run"))}
	if s.stopped != "" {
		all.Failure, all.Message, all.Output = "incomplete", all.Output, s.stopped
	}
	x := report.JUnitSuite{Name: "overall", Cases: []report.JUnitCase{all}}
	for _, f := range s.overall() {
		for _, o := range f.objectives {
			c := report.ObjectiveCase(o, s.passing.allowUndecided)
			c.Name = ofWorkload(f.of) + c.Name
			x.Cases = append(x.Cases, c)
		}
	}
	return x
}

// setFormat and setVersion identify the JSON form of a set.
const (
	setFormat  = "sixnines-set"
	setVersion = 1
)

// setObject is the JSON form of a set. New fields go to the end.
type setObject struct {
	Directory string        `json:"directory"`         // of the results
	Planned   int           `json:"planned"`           // runs
	Stopped   string        `json:"stopped,omitempty"` // why not all were made
	Scenarios []setScenario `json:"scenarios"`
	Runs      []setRun      `json:"runs"` // those made, in their order
	Format    string        `json:"format"`
	Version   int           `json:"version"`
}

// setScenario is one scenario of a set, or one workload of it.
type setScenario struct {
	Name       string `json:"name"`
	Workload   string `json:"workload,omitempty"` // of several, which
	Background bool   `json:"background,omitempty"`
	Set        string `json:"set"` // what its runs carry in their headers
	// Objectives are those of the scenario: met is what was met in every run that
	// was planned.
	Objectives []result.Objective `json:"objectives"`
	// Costs are what actions cost over the runs, by their place in the timeline.
	Costs []actioncost.CostSummary `json:"costs,omitempty"`
	// Verdict is that of the set; it is missing with fewer than two runs.
	Verdict *report.SetVerdict `json:"verdict,omitempty"`
}

// setRun is one run of a set, or one workload of it.
type setRun struct {
	Scenario string          `json:"scenario"`
	Workload string          `json:"workload,omitempty"`
	Repeat   int             `json:"repeat"` // from 1
	Seed     uint64          `json:"seed"`
	Summary  json.RawMessage `json:"summary"` // as run --json prints it
}

func (s *set) object() (setObject, error) {
	o := setObject{Directory: s.dir, Planned: len(s.Trials), Stopped: s.stopped, Format: setFormat, Version: setVersion}
	for _, f := range s.overall() {
		o.Scenarios = append(o.Scenarios, setScenario{Name: s.cells[f.cell].label, Workload: f.workload.Name, Background: f.workload.Background,
			Set: s.Cells[f.cell].Set, Objectives: append([]result.Objective{}, f.objectives...), Costs: f.costs, Verdict: f.verdict})
	}
	for i, t := range s.Trials {
		run := s.kept[i]
		if run == nil {
			continue
		}
		for _, part := range run.Parts() {
			var b bytes.Buffer
			if err := report.JSON(&b, part); err != nil {
				return o, err
			}
			o.Runs = append(o.Runs, setRun{Scenario: s.cells[t.Cell].label, Workload: part.Header.Workload, Repeat: t.Round, Seed: t.Seed, Summary: b.Bytes()})
		}
	}
	return o, nil
}
