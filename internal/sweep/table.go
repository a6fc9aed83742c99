package sweep

import (
	"cmp"
	"fmt"
	"slices"

	"sixnines/internal/actioncost"
	"sixnines/internal/judge"
	"sixnines/result"
)

// Table is the result of a sweep, with a row for each cell.
type Table struct {
	// Workload is the one of several workloads that the table is about; empty: the runs
	// have only one. Background says that it is not judged.
	Workload   string `json:"workload,omitempty"`
	Background bool   `json:"background,omitempty"`
	Axes       []Axis `json:"axes"`
	Rounds     int    `json:"rounds"` // planned for each cell
	Rows       []Row  `json:"rows"`   // in the order of the grid, without cells that lack runs
}

// Row is a cell, or those of its runs that have the same semantics if its runs differ.
type Row struct {
	Cell Cell `json:"cell"`
	// Semantics is set if the runs of the cell differ in it, so that the cell has several
	// rows; else it is empty.
	Semantics string        `json:"semantics,omitempty"`
	Metric    result.Metric `json:"metric,omitempty"`
	Asked     float64       `json:"asked_per_s"`    // messages a second; 0: unpaced or a closed loop
	Achieved  Spread        `json:"achieved_per_s"` // messages a second
	Bytes     Spread        `json:"bytes_per_s"`    // bytes of payload a second, sent
	// GeneratorCPU and BrokerCPU are seconds of processor time per message; they have no
	// figure if that is unknown, as for one of several workloads.
	GeneratorCPU Spread                       `json:"generator_cpu_s"`
	BrokerCPU    Spread                       `json:"broker_cpu_s"`
	Latency      map[result.Percentile]Spread `json:"latency_ns"` // by percentile, ns
	Runs         []Outcome                    `json:"runs"`       // in the order of their rounds
	// Objectives are the combined outcomes of the runs' objectives, see [judge.Together]:
	// met if each planned round shows it, INVALID and UNSTABLE ones included.
	Objectives []result.Objective `json:"objectives,omitempty"`
	// Costs are what actions cost in the cell's rounds, by their place in the timeline; empty: the
	// rounds have no actions, or not the same.
	Costs []actioncost.CostSummary `json:"costs,omitempty"`
}

// Count returns how many runs of the row have a status.
func (r Row) Count(status result.Status) int {
	n := 0
	for _, o := range r.Runs {
		if o.Status == status {
			n++
		}
	}
	return n
}

// Unstable reports whether at least half of the runs that are not INVALID were overloaded.
func (r Row) Unstable() bool {
	n := r.Count(result.Unstable)
	return n > 0 && 2*n >= len(r.Runs)-r.Count(result.Invalid)
}

// NewTable makes the table of a grid; outcomes[i] are those of its cell i, and rounds is the
// number of planned rounds for each cell.
func NewTable(g Grid, rounds int, outcomes map[int][]Outcome) *Table {
	t := &Table{Axes: g.Axes, Rounds: rounds}
	for i, cell := range g.Cells() {
		runs := slices.Clone(outcomes[i])
		slices.SortStableFunc(runs, func(a, b Outcome) int { return cmp.Compare(a.Round, b.Round) })
		var kinds []string
		for _, o := range runs {
			if !slices.Contains(kinds, o.Semantics) {
				kinds = append(kinds, o.Semantics)
			}
		}
		for _, kind := range kinds {
			of := slices.DeleteFunc(slices.Clone(runs), func(o Outcome) bool { return o.Semantics != kind })
			planned := rounds
			if len(kinds) > 1 {
				planned = len(of)
			}
			r := rowOf(cell, of, planned)
			if len(kinds) > 1 {
				r.Semantics = kind
			}
			r.decide(planned)
			r.Costs = placeCosts(of)
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

func rowOf(cell Cell, runs []Outcome, planned int) Row {
	r := Row{Cell: cell, Metric: runs[0].Metric, Asked: runs[0].Asked, Runs: runs, Latency: map[result.Percentile]Spread{}}
	number := func(of func(Outcome) float64) Spread {
		return spreadOf(runs, planned, func(o Outcome) (v float64, f Figure) {
			if o.Few {
				f.Missing = MissingUnsupported
			}
			return of(o), f
		})
	}
	r.Achieved = number(func(o Outcome) float64 { return o.Achieved })
	r.Bytes = number(func(o Outcome) float64 { return o.Bytes })
	known := func(of func(Outcome) float64) Spread {
		return spreadOf(runs, planned, func(o Outcome) (v float64, f Figure) {
			if v = of(o); v == 0 {
				f.Missing = MissingNone
			}
			return v, f
		})
	}
	r.GeneratorCPU = known(func(o Outcome) float64 { return o.GeneratorCPU })
	r.BrokerCPU = known(func(o Outcome) float64 { return o.BrokerCPU })
	for _, p := range Percentiles() {
		r.Latency[p] = spreadOf(runs, planned, func(o Outcome) (float64, Figure) {
			f := o.Figures[p]
			if o.Metric != r.Metric && f.Missing == "" {
				f.Missing = MissingNone
			}
			return float64(f.Value), f
		})
	}
	return r
}

// placeCosts returns what actions cost in rounds.
func placeCosts(runs []Outcome) []actioncost.CostSummary {
	var trials []actioncost.Trial
	for _, o := range runs {
		trials = append(trials, o.Trial)
	}
	return actioncost.Summaries(trials)
}

// decide combines what the runs of a row show about each objective.
func (r *Row) decide(planned int) {
	var found []judge.Shown
	var asked []string
	for _, run := range r.Runs {
		found = append(found, judge.Shown{Objectives: append([]result.Objective{}, run.Objectives...), Attempts: run.Attempts})
		for _, o := range run.Objectives {
			if !slices.Contains(asked, o.Text) {
				asked = append(asked, o.Text)
			}
		}
	}
	for _, text := range asked {
		r.Objectives = append(r.Objectives, judge.Together(text, found, planned))
	}
}

// Asked returns the objectives of all rows, each once.
func (t *Table) Asked() []string {
	var asked []string
	for _, r := range t.Rows {
		for _, o := range r.Objectives {
			if !slices.Contains(asked, o.Text) {
				asked = append(asked, o.Text)
			}
		}
	}
	return asked
}

// Objective returns the outcome of an objective in a row; ok is false if the row does not have
// the objective.
func (r *Row) Objective(text string) (o result.Objective, ok bool) {
	i := slices.IndexFunc(r.Objectives, func(o result.Objective) bool { return o.Text == text })
	if i < 0 {
		return result.Objective{}, false
	}
	return r.Objectives[i], true
}

// spreadOf summarises a figure over the runs of a row; of returns the figure of one run and its
// qualifications.
func spreadOf(runs []Outcome, planned int, of func(Outcome) (float64, Figure)) Spread {
	samples := make([]Sample, len(runs))
	for i, run := range runs {
		v, f := of(run)
		samples[i] = Sample{Value: v, Figure: f, LeftOut: run.Status == result.Invalid}
	}
	return SpreadOf(samples, planned)
}

// Left says in words what is missing from the table: "" if it is complete.
func (t *Table) Left() string {
	made, planned := 0, t.Rounds
	for _, a := range t.Axes {
		planned *= len(a.Values)
	}
	for _, r := range t.Rows {
		made += len(r.Runs)
	}
	if made == planned {
		return ""
	}
	return fmt.Sprintf("%d of %d trials were made", made, planned)
}
