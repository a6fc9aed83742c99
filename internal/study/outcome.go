package study

import (
	"time"

	"sixnines/internal/gofast"
	"sixnines/result"
)

// Outcome is what a study came to, so far.
type Outcome struct {
	Study   *Study
	Length  string // one of Quick, Default and Full
	Command string // that makes it again
	// Began is when the first trial began and Ended when the last one ended, by the
	// wall clock; both are zero before there is one.
	Began, Ended time.Time
	Machine      []result.Fact // of the last trial
	Tool         result.Tool   // that made the trials
	WrittenBy    result.Tool   // that writes what they came to
	// Cells are those of the length, in the study's order, those that were left out
	// too: they have no trials.
	Cells       []CellOutcome
	Conclusions []Decision // in the study's order
	Skipped     []Skipped
	// Planned trials are those that the series has, Made those that have a result,
	// Failed those that were tried and have none, and Refused those of what the broker
	// does not do.
	Planned, Made, Failed, Refused int
	GoOn                           string // the command that makes what is missing; empty: nothing is
	More                           string // the command that makes more rounds, after what is missing
}

// Skipped is a system that was not measured.
type Skipped struct {
	System string `json:"system"` // by name
	Why    string `json:"why"`
	How    string `json:"how,omitempty"` // it can be; empty: nothing is to be done, as where the user left it out
	Again  bool   `json:"-"`             // How is to go on with the study, and no more
}

// CellOutcome is what a cell came to.
type CellOutcome struct {
	Cell   Cell
	Trials []TrialOutcome // planned ones, by round; none where its system was skipped or it was left out
}

// TrialOutcome is one run of a cell.
type TrialOutcome struct {
	Round int    // from 1
	File  string // in the directory of the study
	// Run is the result without what neither charts nor figures need, see [Light]; nil
	// where there is none. Why says of a run that failed or was refused why, and is
	// empty of one that was not made yet.
	Run     *result.Run
	Refused bool
	// Bench is the result of a micro-benchmark, in place of Run.
	Bench *gofast.Result
	Why   string
}

// Made reports whether there is a result.
func (t *TrialOutcome) Made() bool { return t.Run != nil || t.Bench != nil }

// Outcome says in a word what became of a trial that has no result, and has a reason.
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

// Light takes from a run what is large and neither figures nor charts of a study
// need: its slowest messages, pauses, own lag by band, and metrics that are no
// latencies.
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

// Verdict is what is said of a conclusion.
type Verdict string

// The verdicts.
const (
	Agrees      Verdict = "agrees"
	Disagrees   Verdict = "disagrees"
	Undecidable Verdict = "not decidable here"
)

// Decision is how a conclusion stands.
type Decision struct {
	Conclusion string `json:"conclusion"` // its name
	Claim      string `json:"claim"`
	// Verdict is that of all tests: it agrees if all do but those of kind undecidable, and
	// disagrees if one does.
	Verdict Verdict `json:"verdict"`
	Tests   []Found `json:"tests"` // as the conclusion has them
}

// Found is what one test found.
type Found struct {
	Kind    string  `json:"kind"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`            // what was found, with figures, one line
	Needs   string  `json:"needs,omitempty"` // what it would take; empty where it was decided
	// Cells are what it rests on, and Files the results, in the directory of the study.
	Cells []string `json:"cells,omitempty"`
	Files []string `json:"files,omitempty"`
}
