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
	"os"
	"path/filepath"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/report"
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
}

// set is several runs that belong together.
type set struct {
	dir       string
	rounds    int
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
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(draw[:]), binary.LittleEndian.Uint64(draw[8:])))
	for _, x := range scenarios {
		x.set = fmt.Sprintf("%016x", rng.Uint64())
		if x.label = x.scenario.Name; x.label == "" {
			x.label = x.scenario.Target.Driver + "-" + string(x.scenario.Workload.Pattern)
		}
		if used[x.label]++; used[x.label] > 1 {
			x.label = fmt.Sprintf("%s-%d", x.label, used[x.label])
		}
	}
	digits := len(fmt.Sprint(len(scenarios) * o.repeat))
	for round := 1; round <= o.repeat; round++ {
		for _, i := range rng.Perm(len(scenarios)) {
			x := scenarios[i]
			r := repetition{of: x, round: round, seed: x.scenario.Seed}
			if !o.sameSeed {
				r.seed = nextSeed(r.seed, round-1)
			}
			r.file = filepath.Join(s.dir, fmt.Sprintf("%0*d-%s.jsonl", digits, len(s.plan)+1, x.label))
			s.plan = append(s.plan, r)
		}
	}
	return s
}

// nextSeed returns the seed n further on; 0 is none.
func nextSeed(seed uint64, n int) uint64 {
	next := seed + uint64(n)
	if next < seed {
		next++
	}
	return next
}

// runSet makes the runs of a set and shows them together. What was made before
// an error or Ctrl-C is kept and shown.
func (a *app) runSet(ctx context.Context, scenarios []*repeated, o runOptions) error {
	s := newSet(scenarios, o, time.Now())
	if err := a.makeDir(s.dir); err != nil {
		return err
	}
	err := a.makeRuns(ctx, s, o)
	if len(s.runs) == 0 {
		if empty := os.Remove(a.path(s.dir)); empty != nil && !errors.Is(empty, fs.ErrNotExist) {
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
func (a *app) makeRuns(ctx context.Context, s *set, o runOptions) error {
	stops := a.seriesStops(ctx)
	defer stops.stop()
	for i, r := range s.plan {
		pause := o.pause
		if i == 0 {
			pause = 0
		}
		where := fmt.Sprintf("run %d of %d", i+1, len(s.plan))
		if err := a.makeRun(stops, s, r, where, pause, o.quiet); err != nil {
			s.stopped = where + " went wrong"
			return err
		}
		if stops.ending() && len(s.made) < len(s.plan) {
			s.stopped = fmt.Sprintf("stopped after %d of %d", len(s.made), len(s.plan))
			return nil
		}
	}
	return nil
}

// makeRun makes one run of a set, unless somebody wants no more.
func (a *app) makeRun(series *seriesStops, s *set, r repetition, where string, pause time.Duration, quiet bool) error {
	show := a.display(quiet, endsSeries)
	defer show.close()
	if pause > 0 {
		show.say(fmt.Sprintf("%s begins in %s", where, seconds(pause)))
		wait := time.NewTimer(pause)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-series.ended:
			return nil
		}
	}
	stops := series.next(func(text string) { show.say(where + ": " + text) })
	defer series.done()
	show.say(fmt.Sprintf("%s: %s, seed %d", where, r.of.label, r.seed))
	one := *r.of.scenario
	one.Seed = r.seed
	run, err := a.measure(stops, show, measurement{scenario: &one, entry: r.of.entry, file: r.file,
		trial: &result.Trial{Set: r.of.set, Kind: result.TrialRepeat, Index: r.round, Of: s.rounds}})
	if run == nil {
		if stops.vain.Load() && len(s.runs) > 0 {
			return nil // said already, and those before it are kept
		}
		return err
	}
	s.made, s.runs, r.of.runs = append(s.made, r), append(s.runs, run), append(r.of.runs, run)
	if run.Summary != nil {
		show.say(fmt.Sprintf("%s: %s", where, run.Summary.Verdict))
	}
	return err
}

// presentSet writes the report of a set and its JUnit file, prints the runs and
// decides on the exit code: the worst of the runs', and 3 where an objective was
// not met in all of them. broke is what ended the set, if it ended badly.
func (a *app) presentSet(s *set, o runOptions, broke error) error {
	page := filepath.Join(s.dir, "report.html")
	pageErr := a.writeNew(page, false, func(w io.Writer) error { return report.HTML(w, s.runs, report.Options{}) })
	more := []report.JUnitSuite{s.suite()}
	if broke != nil {
		more = append(more, wentWrong(broke))
	}
	junitErr := a.writeJUnit(o.junit, s.runs, more...)
	if err := a.printSet(s, o.json); err != nil {
		return failed("the results are in "+s.dir, fmt.Errorf("print the set: %w", err))
	}
	if !o.quiet {
		for _, x := range s.scenarios {
			of := ""
			if len(s.scenarios) > 1 {
				of = x.label
			}
			a.sayObjectives(of, s.overall(x))
		}
		if s.stopped != "" {
			fmt.Fprintln(a.Stderr, s.stopped+" runs; those that were made are kept")
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
		if err := decided(s.overall(x)); err != nil {
			return err
		}
	}
	return nil
}

// printSet prints the runs of a set on stdout.
func (a *app) printSet(s *set, asJSON bool) error {
	if !asJSON {
		return report.Terminal(a.Stdout, s.runs, a.reportOptions(a.Stdout))
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
