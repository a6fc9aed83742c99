package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/sweep"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// sweepRuns are the runs of a sweep.
type sweepRuns struct {
	*series
	sweepOptions
	args     []string
	flags    []scenario.Override
	planned  *sweepPlan
	tables   []sweptWorkload
	outcomes map[string]map[int][]sweep.Outcome // by workload, then by cell
}

// keep takes what a trial came to; the run itself may be large, and is let go.
func (s *sweepRuns) keep(trial int, run *result.Run) {
	t := s.Trials[trial]
	for _, part := range run.Parts() {
		w := part.Header.Workload
		if s.outcomes[w] == nil {
			s.outcomes[w] = map[int][]sweep.Outcome{}
		}
		s.outcomes[w][t.Cell] = append(s.outcomes[w][t.Cell], sweep.OutcomeOf(part, t.Round))
	}
}

// announce says what is going to happen, and how long it takes.
func (s *sweepRuns) announce() {
	left, least := s.left(func(c *cell) time.Duration { return c.lasts() + s.pause })
	s.note("%s: %s in %s", s.planned.title, plural(len(s.planned.cells), "cell"), plural(s.Rounds, "round"))
	if left == len(s.Trials) {
		s.note("%s in random order take %s, plus the time to start brokers; results in %s", plural(left, "trial"), longTime(float64(least)), s.dir)
	} else {
		s.note("%s of %d already made; the others take %s, plus the time to start brokers; results in %s", plural(len(s.Trials)-left, "trial"), len(s.Trials), longTime(float64(least)), s.dir)
	}
}

// one makes one trial.
func (s *sweepRuns) one(turn *trials.Turn) (trials.State, error) {
	run, state, err := s.makeCell(turn, s.Rounds)
	if state == trials.Made {
		s.keep(turn.Number-1, run)
	}
	return state, err
}

// conclude makes the table of each workload.
func (s *sweepRuns) conclude(ended error) (something bool, err error) {
	if isUsage(ended) {
		return false, ended
	}
	if len(s.outcomes) == 0 {
		return false, s.nothing(ended, "a trial")
	}
	s.tables = each(s.planned.workloads, func(w scenario.Part) sweptWorkload {
		t := sweep.NewTable(s.planned.grid, s.Rounds, s.outcomes[w.Name])
		t.Workload, t.Background = w.Name, w.Background
		return sweptWorkload{s.findings(t), t}
	})
	return true, nil
}

// show prints and writes the tables, and decides on the exit code.
func (s *sweepRuns) show(ended error) error {
	shown := each(s.tables, func(x sweptWorkload) *report.Sweep {
		return &report.Sweep{Table: x.Table, Title: s.planned.title, Findings: x.findings.lines(), Left: x.Left()}
	})
	if err := s.print(shown); err != nil {
		return failed("the results are in "+s.dir, fmt.Errorf("print the sweep: %w", err))
	}
	if err := s.write(shown); err != nil {
		return err
	}
	s.note("results %s", s.dir)
	s.note("report  %s", filepath.Join(s.dir, "sweep.html"))
	s.noteLeft("trial")
	if ended = cmp.Or(ended, s.failures(trials.Failed)); ended != nil {
		return failed("the same command with --resume "+s.dir+" repeats them; manifest.json there has the errors", ended)
	}
	return s.judged()
}

// mostSaid is of how many cells it is said why they do not meet their objectives.
const mostSaid = 3

// judged turns the objectives of the cells into the command's end, as those of repeats:
// each cell must meet its own, and a trial that was not made shows nothing.
func (s *sweepRuns) judged() error {
	var all tally
	cells := 0
	for i, t := range s.tables {
		for _, c := range s.planned.cells {
			if n := len(c.scenario.Parts()[i].Objectives); t.Left() != "" {
				all.undecided += n
			}
		}
		for _, r := range t.Rows {
			before := all
			if all.objectives(r.Objectives); all == before {
				continue
			}
			if cells++; cells <= mostSaid && !s.quiet {
				s.sayObjectives(joinWords(t.Workload, r.Cell.Text()), r.Objectives, s.passing)
			}
		}
	}
	if cells > mostSaid {
		s.note("and %s more", plural(cells-mostSaid, "cell"))
	}
	return s.passing.end(all)
}

// sweepObject is the JSON form of a sweep, which has the table of its workload, or
// Workloads where there are several.
type sweepObject struct {
	Directory string `json:"directory"`
	Planned   int    `json:"planned"`
	Made      int    `json:"made"`
	Failed    int    `json:"failed,omitempty"`
	Title     string `json:"title"`
	*sweptWorkload
	Workloads []sweptWorkload `json:"workloads,omitempty"`
	Format    string          `json:"format"`
	Version   int             `json:"version"`
}

// sweepFormat and sweepVersion identify the JSON form of a sweep.
const (
	sweepFormat  = "sixnines-sweep"
	sweepVersion = 1
)

// sweptWorkload is what one workload came to in a sweep.
type sweptWorkload struct {
	findings
	*sweep.Table
}

// print prints the sweep on stdout.
func (s *sweepRuns) print(shown []*report.Sweep) error {
	if s.json {
		object := sweepObject{Directory: s.dir, Planned: len(s.Trials), Made: s.Count(trials.Made), Failed: s.Count(trials.Failed), Title: s.planned.title,
			Format: sweepFormat, Version: sweepVersion}
		if s.tables[0].Workload == "" {
			object.sweptWorkload = &s.tables[0]
		} else {
			object.Workloads = s.tables
		}
		return s.writeJSON(object)
	}
	for _, x := range shown {
		if err := report.SweepTerminal(s.Stdout, x, s.reportOptions(s.Stdout)); err != nil {
			return err
		}
	}
	return nil
}

// write writes the page and the tables.
func (s *sweepRuns) write(shown []*report.Sweep) error {
	tables := each(shown, func(x *report.Sweep) *sweep.Table { return x.Table })
	page := func(w io.Writer) error { return report.SweepHTML(w, shown...) }
	table := func(w io.Writer) error { return report.SweepCSV(w, tables...) }
	err := errors.Join(s.writeNew(filepath.Join(s.dir, "sweep.html"), true, page), s.writeNew(filepath.Join(s.dir, "sweep.csv"), true, table))
	if err == nil && s.csv != "" {
		err = s.writeNew(s.csv, true, table)
	}
	if err != nil {
		return failed("the results are in "+s.dir+"; the same command with --resume "+s.dir+" writes it again", fmt.Errorf("write the report: %w", err))
	}
	return nil
}
