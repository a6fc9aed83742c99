package study

import (
	"time"

	"sixnines/internal/gofast"
	"sixnines/result"
)

// Outcome is the result of a study, so far.
type Outcome struct {
	Study   *Study
	Length  string // one of Quick, Default and Full
	Command string // the command that makes it again
	// Began is when the first trial began and Ended when the last one ended, by the
	// wall clock; both are zero before the first trial.
	Began, Ended time.Time
	Machine      []result.Fact // of the last trial
	Tool         result.Tool   // the program that made the trials
	WrittenBy    result.Tool   // the program that writes the outcome
	// Cells are all cells of the length, in the study's order. Those that were left out
	// have no trials.
	Cells       []CellOutcome
	Conclusions []Decision // in the study's order
	Skipped     []Skipped
	// Planned is the number of trials in the series, Made of those with a result, Failed of
	// those that were tried and have none, and Refused of those that the broker does not
	// support.
	Planned, Made, Failed, Refused int
	// Unneeded is the number of further trials that are not made, since all tests that use their cells are decided.
	Unneeded int
	Rest     string // the command that makes any cells of the length, without their names
	GoOn     string // the command that makes the missing trials; empty: no trial is missing
	More     string // the command that then makes more rounds
}

// Skipped is a system that was not measured.
type Skipped struct {
	System string `json:"system"` // by name
	Why    string `json:"why"`
	How    string `json:"how,omitempty"` // how to measure it; empty: nothing needs to be done, as if the user left it out
	Again  bool   `json:"-"`             // How is only to resume the study
}

// CellOutcome is the outcome of a cell.
type CellOutcome struct {
	Cell   Cell
	Trials []TrialOutcome // planned trials, by round; none if the system was skipped or the cell left out
	// Unneeded is the number of further rounds that are not made, see [Outcome.Enough].
	Unneeded int
}

// TrialOutcome is one run of a cell.
type TrialOutcome struct {
	Round int    // from 1
	File  string // in the directory of the study
	// Run is the result, reduced to what charts and figures need, see [Light]; nil if it is
	// missing. Why then says why the trial failed or was refused, and is empty if it was
	// not made yet.
	Run     *result.Run
	Refused bool
	// Bench is the result of a micro-benchmark, in place of Run.
	Bench *gofast.Result
	Why   string
	// Beside is the run that was made at the same time, see [Outcome.PairRounds]; nil: none.
	Beside *result.Run
	// Attempts are the earlier ones at the trial, see [result.Trial].
	Attempts []result.Attempt
}

// Made reports whether the trial has a result.
func (t *TrialOutcome) Made() bool { return t.Run != nil || t.Bench != nil }

// Outcome says in a word what happened to a trial that has no result and has a reason.
func (t *TrialOutcome) Outcome() string {
	if t.Refused {
		return "refused"
	}
	return "failed"
}

// Cell returns the outcome of a cell, nil if the length has none of that name.
func (o *Outcome) Cell(name string) *CellOutcome {
	for i := range o.Cells {
		if o.Cells[i].Cell.Name == name {
			return &o.Cells[i]
		}
	}
	return nil
}

// Match returns the outcomes of the cells that match one of the patterns, in the
// study's order.
func (o *Outcome) Match(patterns []string) []*CellOutcome {
	var all []*CellOutcome
	for i := range o.Cells {
		if cellMatches(o.Cells[i].Cell.Name, patterns) {
			all = append(all, &o.Cells[i])
		}
	}
	return all
}

// Light removes the large parts of a run that neither figures nor charts of a study need:
// its slowest messages, pauses, own lag by band, and metrics that are not latencies.
func Light(run *result.Run) *result.Run {
	light := *run
	light.Tail, light.Pauses, light.Lost = nil, nil, nil
	light.Metrics = map[result.Metric]*result.Merged{}
	for m, x := range run.Metrics {
		if m.IsLatency() {
			light.Metrics[m] = &result.Merged{Hist: x.Hist, Censored: x.Censored, Refused: x.Refused, Min: x.Min, Max: x.Max}
		}
	}
	light.Workloads = nil
	for _, p := range run.Workloads {
		light.Workloads = append(light.Workloads, Light(p))
	}
	return &light
}

// Verdict is the verdict on a conclusion or a test.
type Verdict string

// The verdicts.
const (
	Agrees      Verdict = "agrees"
	Disagrees   Verdict = "disagrees"
	Undecidable Verdict = "not decidable here"
)

// Decision is the verdict on one conclusion with the tests behind it.
type Decision struct {
	Conclusion string `json:"conclusion"` // its name
	Claim      string `json:"claim"`
	// Verdict combines all tests: it agrees if all, or Conclusion.Share of them, agree, and
	// disagrees if that has become impossible.
	Verdict Verdict `json:"verdict"`
	Tests   []Found `json:"tests"` // as the conclusion has them
}

// Found is what one test found.
type Found struct {
	Kind    string  `json:"kind"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`            // what was found, with figures, one line
	Needs   string  `json:"needs,omitempty"` // what is needed to decide it; empty if it is decided
	// Theirs is what the test makes of the author's own figures, or what there is of the author's
	// instead; Slip how these contradict the claim.
	Theirs string `json:"theirs,omitempty"`
	Slip   string `json:"slip,omitempty"`
	// Cells are the cells that the test uses, and Files their results, in the directory of
	// the study.
	Cells []string `json:"cells,omitempty"`
	Files []string `json:"files,omitempty"`
	// Look is the one at which the test was decided, or the last that there was; nil: its cells have none, and all of
	// their rounds decide.
	Look *Look `json:"look,omitempty"`
}
