package cli

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/report"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// mostRepeats is how often a set may repeat its scenarios.
const mostRepeats = 1000

// repeated is one scenario of a set.
type repeated struct {
	label    string // unique in the set
	set      string // what its runs carry in Trial.Set
	scenario *scenario.Scenario
	entry    driver.Entry
	runs     []*result.Run // as far as they were made
}

// repetition is one run of a set, planned.
type repetition struct {
	of    *repeated
	round int // from 1: which repetition of its scenario
	seed  uint64
	file  string
	run   *result.Run // nil: there is none yet
}

// set is several runs that belong together.
type set struct {
	dir       string
	rounds    int
	order     uint64 // seed of the order
	scenarios []*repeated
	plan      []repetition // in the order in which they are run
	made      []repetition // of plan, those with a result
	runs      []*result.Run
	stopped   string // why not all were made; empty: they were
}

// newSet plans the runs of a set: every scenario once a round, in an order that
// is drawn anew for each round, so that what drifts meanwhile favours none.
//
// Seeds: the first round has the scenario's own and each further one the next.
// With one seed for all, each run would have the same arrivals, and what the
// arrivals do to a tail would be missing from the spread between runs. The
// scenarios of one round share a seed if they did, so they can be compared pair
// by pair.
func newSet(scenarios []*repeated, o runOptions, now time.Time) *set {
	s := &set{rounds: o.repeat, scenarios: scenarios}
	name := resultName(&scenario.Scenario{Name: "set"}, now)
	if len(scenarios) == 1 {
		name = resultName(scenarios[0].scenario, now)
	}
	s.dir = filepath.Join(o.out, name)
	used := map[string]int{}
	var draw [16]byte
	crand.Read(draw[:]) // never fails
	s.order = binary.LittleEndian.Uint64(draw[:])
	sets := rand.New(rand.NewPCG(s.order, binary.LittleEndian.Uint64(draw[8:])))
	for _, x := range scenarios {
		x.set = fmt.Sprintf("%016x", sets.Uint64())
		x.label = strings.ReplaceAll(titleOf(x.scenario), " ", "-")
		if used[x.label]++; used[x.label] > 1 {
			x.label = fmt.Sprintf("%s-%d", x.label, used[x.label])
		}
	}
	digits := len(fmt.Sprint(len(scenarios) * o.repeat))
	for _, at := range trials.Shuffled(len(scenarios), o.repeat, s.order) {
		x := scenarios[at.Cell]
		r := repetition{of: x, round: at.Round, seed: x.scenario.Seed}
		if !o.sameSeed {
			r.seed = nextSeed(r.seed, at.Round-1)
		}
		r.file = filepath.Join(s.dir, fmt.Sprintf("%0*d-%s.jsonl", digits, len(s.plan)+1, x.label))
		s.plan = append(s.plan, r)
	}
	return s
}

// manifest is the set as a series.
func (s *set) manifest() (trials.Manifest, error) {
	m := trials.Manifest{Kind: result.TrialRepeat, Seed: s.order, Rounds: s.rounds}
	inputs := inputDigests{}
	for _, x := range s.scenarios {
		cell, err := inputs.cell(trials.Cell{Name: x.label, Set: x.set, Fresh: true,
			Takes: x.scenario.Phases.Warmup + x.scenario.Phases.Duration}, x.scenario, x.entry)
		if err != nil {
			return m, err
		}
		m.Cells = append(m.Cells, cell)
	}
	for _, r := range s.plan {
		m.Trials = append(m.Trials, trials.Trial{Cell: slices.Index(s.scenarios, r.of), Round: r.round, Seed: r.seed, File: filepath.Base(r.file)})
	}
	return m, nil
}

// take takes the plan from the series, which may be one that was begun before.
func (s *set) take(from *series) error {
	s.dir, s.rounds, s.order = from.dir, from.Rounds, from.Seed
	for i, c := range from.Cells {
		s.scenarios[i].set = c.Set
	}
	s.plan = nil
	for _, t := range from.Trials {
		s.plan = append(s.plan, repetition{of: s.scenarios[t.Cell], round: t.Round, seed: t.Seed, file: filepath.Join(s.dir, t.File)})
	}
	err := from.load(func(i int, run *result.Run) { s.plan[i].run = run })
	s.gather()
	return err
}

// gather collects what was made, in the order of the plan.
func (s *set) gather() {
	s.made, s.runs = nil, nil
	for _, x := range s.scenarios {
		x.runs = nil
	}
	for _, r := range s.plan {
		if r.run != nil {
			s.made, s.runs, r.of.runs = append(s.made, r), append(s.runs, r.run), append(r.of.runs, r.run)
		}
	}
}

// runSet makes the runs of a set and shows them together. What was made before
// an error or Ctrl-C is kept and shown.
func (a *app) runSet(ctx context.Context, scenarios []*repeated, o runOptions) error {
	s := newSet(scenarios, o, time.Now())
	m, err := s.manifest()
	if err != nil {
		return err
	}
	if o.resume != "" {
		s.dir = o.resume
	} else if err := a.makeDir(s.dir); err != nil {
		return err
	}
	opened, err := a.openSeries(s.dir, o.resume != "", m)
	if err != nil {
		return err
	}
	defer opened.Close()
	work := &series{app: a, Series: opened, dir: s.dir, quiet: o.quiet}
	if err := s.take(work); err != nil {
		return err
	}
	err = s.makeRuns(ctx, work, o.pause)
	switch {
	case len(s.runs) == 0 && o.resume != "":
		return errors.Join(err, a.writeJUnit(o.junit, nil, wentWrong(err)))
	case len(s.runs) == 0:
		if empty := opened.Discard(); empty != nil && !errors.Is(empty, fs.ErrNotExist) {
			fmt.Fprintln(a.Stderr, oneLine(empty.Error())) // something is in it after all: it stays
		}
		return errors.Join(err, a.writeJUnit(o.junit, nil, wentWrong(err)))
	}
	presented := a.presentSet(s, o, err)
	if err != nil {
		return err
	}
	return presented
}

// makeRuns makes one run after the other, each with a fresh broker where that
// is ours to start, and fresh connections.
func (s *set) makeRuns(ctx context.Context, work *series, pause time.Duration) error {
	work.stops = work.seriesStops(ctx)
	defer work.stops.stop()
	err := work.Run(trials.Options{Pause: pause, Ending: work.stops.ended, Progress: work.sayProgress,
		Make: func(t *trials.Turn) (trials.State, error) {
			state, err := s.makeRun(work, t)
			if err != nil {
				s.stopped = fmt.Sprintf("run %d of %d went wrong", t.Number, t.Of)
			}
			return state, err
		}})
	s.gather()
	if err == nil && len(s.made) < len(s.plan) {
		s.stopped = fmt.Sprintf("stopped after %d of %d", len(s.made), len(s.plan))
	}
	return err
}

// makeRun makes one run of a set, unless somebody wants no more.
func (s *set) makeRun(work *series, t *trials.Turn) (trials.State, error) {
	r := &s.plan[t.Number-1]
	where := fmt.Sprintf("run %d of %d", t.Number, t.Of)
	run, state, err := work.make(t, one{scenario: r.of.scenario, entry: r.of.entry, prefix: where + ": ",
		header: result.Trial{Set: r.of.set, Kind: result.TrialRepeat, Index: r.round, Of: s.rounds},
		before: fmt.Sprintf("%s begins in %s", where, seconds(t.Pause)),
		begin:  fmt.Sprintf("%s: %s, seed %d", where, r.of.label, r.seed)})
	if run == nil && state == trials.Planned && slices.ContainsFunc(s.plan, func(r repetition) bool { return r.run != nil }) {
		return state, nil // said already, and those before it are kept
	}
	r.run = run
	if run != nil {
		work.noteVerdicts(where, run)
	}
	return state, err
}

// presentSet writes the report of a set and its JUnit file, prints the runs and
// decides on the exit code: the worst of the runs', and 3 where an objective was
// not met in all of them. broke is what ended the set, if it ended badly.
func (a *app) presentSet(s *set, o runOptions, broke error) error {
	page := filepath.Join(s.dir, "report.html")
	pageErr := a.writeNew(page, o.resume != "", func(w io.Writer) error { return report.HTML(w, byWorkload(s.runs), report.Options{}) })
	more := []report.JUnitSuite{s.suite()}
	if broke != nil {
		more = append(more, wentWrong(broke))
	}
	junitErr := a.writeJUnit(o.junit, byWorkload(s.runs), more...)
	if err := a.printSet(s, o); err != nil {
		return failed("the results are in "+s.dir, fmt.Errorf("print the set: %w", err))
	}
	if !o.quiet {
		for _, x := range s.scenarios {
			for _, f := range s.overall(x) {
				a.sayObjectives(f.of, f.objectives)
			}
		}
		if s.stopped != "" {
			fmt.Fprintln(a.Stderr, s.stopped+"; the runs that were made are kept; the same command with --resume "+s.dir+" goes on")
		}
		fmt.Fprintf(a.Stderr, "results %s\n", s.dir)
		if pageErr == nil {
			fmt.Fprintf(a.Stderr, "report  %s\n", page)
		}
	}
	switch {
	case pageErr != nil:
		return failed("the results are in "+s.dir+"; write the page with sixnines report --format html --out FILE", fmt.Errorf("write the report: %w", pageErr))
	case junitErr != nil:
		return junitErr
	}
	return s.judged()
}

// judged is the end of a set that ended well.
func (s *set) judged() error {
	for _, run := range s.runs {
		if judged(run) == status(exitInvalid) {
			return status(exitInvalid)
		}
	}
	for _, x := range s.scenarios {
		for _, f := range s.overall(x) {
			if err := decided(f.objectives); err != nil {
				return err
			}
		}
	}
	return nil
}

// printSet prints the runs of a set on stdout.
func (a *app) printSet(s *set, o runOptions) error {
	if !o.json {
		return report.Terminal(a.Stdout, byWorkload(s.runs), o.showing.options(a.reportOptions(a.Stdout)))
	}
	object, err := s.object()
	if err != nil {
		return err
	}
	return a.writeJSON(object)
}

// loadScenarios loads the scenarios that the arguments name, one of its own without
// any.
func (a *app) loadScenarios(args []string, flags []scenario.Override) ([]*repeated, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	var all []*repeated
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
		all = append(all, &repeated{scenario: s, entry: e})
	}
	return all, nil
}
