package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// mostRepeats is the largest number of repeats of a set's scenarios.
const mostRepeats = 1000

// set is several runs that belong together: a series with a cell for each scenario.
type set struct {
	*series
	runOptions
	scenarios []cell
	stopped   string // why some runs were not made; empty: all were
}

// made returns the runs that were made, in order.
func (s *set) made() []*result.Run { return s.runs(func(trials.Trial) bool { return true }) }

// check refuses nothing: the scenarios are checked like those of single runs.
func (s *set) check(context.Context, *app) error { return nil }

// plan contains every scenario once a round, in a new random order for each round, so that
// drift over time favours no scenario.
//
// Seeds: the first round has the scenario's own seed, and each further round the next one.
// With one seed for all, each run would have the same arrivals, and the spread between runs
// would lack their effect on the tail. Scenarios with equal seeds have equal seeds in each
// round, so that they can be compared pair by pair.
func (s *set) plan() (design, error) {
	named := &scenario.Scenario{Name: "set"}
	if len(s.scenarios) == 1 {
		named = s.scenarios[0].scenario
	}
	used := map[string]int{}
	for i := range s.scenarios {
		c := &s.scenarios[i]
		c.label = strings.ReplaceAll(titleOf(c.scenario), " ", "-")
		if used[c.label]++; used[c.label] > 1 {
			c.label = fmt.Sprintf("%s-%d", c.label, used[c.label])
		}
		c.Name, c.Fresh = c.label, true
	}
	seed := randomSeed()
	return design{name: resultName(named, time.Now()), kind: result.TrialRepeat, seed: seed, rounds: s.repeat, cells: s.scenarios,
		places: trials.Shuffled(len(s.scenarios), s.repeat, seed), sameSeed: s.sameSeed,
		file: func(number string, at trials.Place) string {
			return number + "-" + s.scenarios[at.Cell].label + ".jsonl"
		}}, nil
}

func (s *set) begin(of *series) error {
	s.series = of
	return of.load(s.keep)
}

func (s *set) make(ctx context.Context) error {
	return s.makeAll(ctx, trials.Options{Pause: s.pause, Make: s.one})
}

// conclude says why not all runs were made. One that was cut short is kept and shown, but
// --resume makes it again.
func (s *set) conclude(ended error) (something bool, err error) {
	if len(s.kept) == 0 {
		if s.wrote() {
			s.noteLeft("run") // the directory stays, and so must its manifest
		} else {
			s.discard()
		}
		return false, errors.Join(ended, s.writeJUnit(s.junit, s.passing, nil, wentWrong(ended)))
	}
	if made := s.Count(trials.Made); ended == nil && made < len(s.Trials) {
		s.stopped = fmt.Sprintf("stopped after %d of %d", made, len(s.Trials))
	}
	return true, nil
}

// wrote reports whether a run left a result, such as one that was given up.
func (s *set) wrote() bool {
	return slices.ContainsFunc(s.Trials, func(t trials.Trial) bool {
		_, err := os.Stat(s.path(filepath.Join(s.dir, t.File)))
		return err == nil
	})
}

// one makes one run of a set, with a fresh broker if the command starts it, unless a signal
// has ended the set.
func (s *set) one(t *trials.Turn) (trials.State, error) {
	where := whereOf(t)
	run, state, err := s.measured(t, trialSpec{where: where, header: result.Trial{Index: t.Trial.Round, Of: s.Rounds},
		begin: fmt.Sprintf("%s: %s, seed %d", where, s.cells[t.Trial.Cell].label, t.Trial.Seed)})
	switch {
	case run != nil:
		s.keep(t.Number-1, run)
		s.noteVerdicts(where, run)
	case state == trials.Planned && len(s.kept) > 0:
		return state, nil // already reported; the earlier runs are kept
	}
	if err != nil {
		s.stopped = where + " failed"
	}
	return state, err
}

// show writes the report of a set and its JUnit file, prints the runs and
// decides on the exit code: the worst of the runs', and 3 where an objective was
// not met in all of them.
func (s *set) show(ended error) error {
	shown := s.present(ended)
	if ended != nil {
		return ended
	}
	return shown
}

// present does the work of [set.show]; broke is the error that ended the set, or nil.
func (s *set) present(broke error) error {
	page := filepath.Join(s.dir, "report.html")
	pageErr := s.writeNew(page, s.resumed, func(w io.Writer) error { return report.HTML(w, byWorkload(s.made()), report.Options{}) })
	more := []report.JUnitSuite{s.suite()}
	if broke != nil {
		more = append(more, wentWrong(broke))
	}
	junitErr := s.writeJUnit(s.junit, s.passing, byWorkload(s.made()), more...)
	if err := s.print(); err != nil {
		return failed("the results are in "+s.dir, fmt.Errorf("print the set: %w", err))
	}
	if !s.quiet {
		for _, f := range s.overall() {
			s.sayObjectives(f.of, f.objectives, s.passing)
		}
	}
	if s.stopped != "" {
		s.note("%s; the runs so far are kept; the same command with --resume %s continues", s.stopped, s.dir)
	}
	s.note("results %s", s.dir)
	if pageErr != nil {
		return failed("the results are in "+s.dir+"; write the page with sixnines report --format html --out FILE", fmt.Errorf("write the report: %w", pageErr))
	}
	s.note("report  %s", page)
	if junitErr != nil {
		return junitErr
	}
	return s.judged()
}

// judged returns the error of a set that ended normally.
func (s *set) judged() error {
	var each, t tally
	for _, run := range s.made() {
		each.run(run)
	}
	t.invalid = each.invalid // what each run shows is in what they show together
	for _, f := range s.overall() {
		t.objectives(f.objectives)
	}
	return s.passing.end(t)
}

// print prints the runs of a set on stdout.
func (s *set) print() error {
	if !s.json {
		return report.Terminal(s.Stdout, byWorkload(s.made()), s.showing.options(s.reportOptions(s.Stdout)))
	}
	object, err := s.object()
	if err != nil {
		return err
	}
	return s.writeJSON(object)
}

// loadScenarios loads the scenarios that the arguments name; without arguments it makes one
// from the flags.
func (a *app) loadScenarios(args []string, flags []scenario.Override) ([]cell, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	var all []cell
	for i, arg := range args {
		if arg == "-" && slices.Contains(args[:i], "-") {
			return nil, wrongUsage("name it once", "stdin holds one scenario, not two")
		}
		named := args[i : i+1]
		if arg == "" {
			named = nil
		}
		s, e, err := a.load(named, flags)
		if err != nil {
			return nil, err
		}
		all = append(all, newCell(s, e))
	}
	return all, nil
}
