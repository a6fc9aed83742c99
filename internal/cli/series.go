package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/filelock"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// cell is one of the loads of a series, before anything is run.
type cell struct {
	trials.Cell // without what tells its scenario apart
	scenario    *scenario.Scenario
	entry       driver.Entry
}

// planned adds cells to a series, and the trials of places: each further round has the
// next seed of a cell's scenario unless all are to have the same, and file names a
// trial's result, which may begin with its number.
func planned(m trials.Manifest, cells []cell, places []trials.Place, sameSeed bool, file func(number string, at trials.Place) string) (trials.Manifest, error) {
	known := map[engine.Input]string{} // digests of files, each read once however many cells have it
	for _, c := range cells {
		var err error
		if c.Digest, err = digestOf(c.scenario, c.entry); err != nil {
			return m, err
		}
		for _, in := range engine.Inputs(c.scenario) {
			if known[in] == "" {
				if known[in], err = in.Digest(); err != nil {
					return m, runFault(err, c.scenario, c.entry, false)
				}
			}
			if c.Inputs == nil {
				c.Inputs = map[string]string{}
			}
			c.Inputs[in.Name] = known[in]
		}
		m.Cells = append(m.Cells, c.Cell)
	}
	digits := len(fmt.Sprint(len(places)))
	for i, at := range places {
		seed := cells[at.Cell].scenario.Seed
		if !sameSeed {
			seed = nextSeed(seed, at.Round-1)
		}
		m.Trials = append(m.Trials, trials.Trial{Cell: at.Cell, Round: at.Round, Seed: seed, File: file(fmt.Sprintf("%0*d", digits, i+1), at)})
	}
	return m, nil
}

// digestOf tells scenarios apart. Passwords and what variables of the environment
// hold count in its last four digits only: they tell that something has changed,
// and too little to find out what it was.
func digestOf(s *scenario.Scenario, e driver.Entry) (string, error) {
	text, err := s.Redacted(e.Secret).MarshalJSON()
	if err != nil {
		return "", fmt.Errorf("write the scenario down: %w", err)
	}
	t := s.Target
	var tls scenario.TLS
	if t.TLS != nil {
		tls = *t.TLS
	}
	hidden := sha256.Sum256(fmt.Appendf(nil, "%q %v %q %v", t.URL, t.Options, t.Settings, tls))
	return fmt.Sprintf("%x-%x", sha256.Sum256(text), hidden[:2]), nil
}

// series is a series under way: who makes its trials.
type series struct {
	*app
	*trials.Series
	dir     string // as the user would name it
	quiet   bool
	resumed bool
	stops   *seriesStops
	kept    map[int]*result.Run // those that are wanted later, by the index of their trials
}

// begin begins a series in a directory of that name below the one for results, or goes
// on with one that was begun before.
func (a *app) begin(o outputOptions, name string, m trials.Manifest) (*series, error) {
	s := &series{app: a, dir: o.resume, quiet: o.quiet, resumed: o.resume != "", kept: map[int]*result.Run{}}
	m.Tool, m.Binary = a.Tool.Version, a.binary()
	var err error
	if !s.resumed {
		if err := a.makeDir(o.out); err != nil {
			return nil, err
		}
		s.dir = filepath.Join(o.out, name)
		if s.Series, err = trials.New(a.path(s.dir), m); err != nil {
			return nil, failed(fileHint(err), fmt.Errorf("begin the series in %s: %w", s.dir, err))
		}
		return s, nil
	}
	s.Series, err = trials.Resume(a.path(s.dir), m)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, filelock.ErrBusy):
		return nil, wrongUsage("wait until it has ended, or leave --resume out to make a series of its own", "%s is in use: %w", s.dir, err)
	case errors.Is(err, trials.ErrProgram):
		return nil, wrongUsage("go on with the program that began it, or leave --resume out to make a series of its own", "%s: %w", s.dir, err)
	case errors.Is(err, trials.ErrChanged):
		return nil, wrongUsage("give the scenario, the files that it reads and the flags with which it was begun, or leave --resume out to make a series of its own", "%s: %w", s.dir, err)
	case errors.Is(err, trials.ErrNoSeries), errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("name the directory that the series made, such as results/NAME", "%w", err)
	}
	return nil, failed("check the directory and its permissions", err)
}

// load hands the results that were made before to keep, with the index of their
// trials.
func (s *series) load(keep func(trial int, run *result.Run)) error {
	for i, t := range s.Trials {
		if filepath.Ext(t.File) == benchExt {
			continue // somebody else's
		}
		run, err := s.result(i)
		if err != nil {
			return err
		}
		if run != nil {
			keep(i, run)
		}
	}
	return nil
}

// keep keeps the run of a trial.
func (s *series) keep(trial int, run *result.Run) { s.kept[trial] = run }

// runs returns those that are kept of the trials that want chooses, in their order.
func (s *series) runs(want func(trials.Trial) bool) []*result.Run {
	var all []*result.Run
	for i, t := range s.Trials {
		if run := s.kept[i]; run != nil && want(t) {
			all = append(all, run)
		}
	}
	return all
}

// result returns the result of a trial that was made before, nil if it was not. One
// that lost a part since, as on a way to another disk, is planned anew.
func (s *series) result(trial int) (*result.Run, error) {
	if s.Trials[trial].State != trials.Made {
		return nil, nil
	}
	file := filepath.Join(s.dir, s.Trials[trial].File)
	run, err := result.Load(s.path(file))
	switch {
	case err == nil && run.Complete():
		run.SetPath(file)
		return run, nil
	case err != nil && !errors.Is(err, result.ErrFormat):
		return nil, failed("check the file and its permissions", err)
	case s.Trials[trial].Aside != "":
		return nil, nil // nobody makes it again
	}
	s.note("%s is damaged: it is made again", file)
	return nil, s.Again(trial)
}

// makeAll makes the trials that are left until a signal ends the series.
func (s *series) makeAll(ctx context.Context, o trials.Options) error {
	s.stops = s.seriesStops(ctx)
	defer s.stops.stop()
	o.Ending = s.stops.ended
	o.Progress = func(p trials.Progress) {
		if p.Done < p.Of && !s.stops.ending() {
			s.note("%d of %s, about %s left", p.Done, plural(p.Of, "run"), seconds(p.Left.Round(time.Second)))
		}
	}
	return s.Run(o)
}

// trialSpec is a trial of a series, as its command wants it made.
type trialSpec struct {
	scenario *scenario.Scenario
	entry    driver.Entry
	header   result.Trial // without Set and Kind
	where    string       // stands before what is said of it, such as "run 1 of 3"; empty: nothing does
	begin    string       // is said when it begins
}

// measured makes one trial. The error is of the run, as measure returns it.
func (s *series) measured(turn *trials.Turn, o trialSpec) (*result.Run, trials.State, error) {
	show := s.display(s.quiet, endsSeries, o.scenario)
	defer show.close()
	if turn.Pause > 0 {
		show.say(o.where + " begins in " + seconds(turn.Pause))
	}
	if !turn.Wait() {
		return nil, trials.Planned, nil
	}
	stops := s.stops.next(func(text string) { show.say(ofWorkload(o.where) + text) })
	defer s.stops.done()
	show.say(o.begin)
	sc := *o.scenario
	sc.Reseed(turn.Trial.Seed)
	o.header.Set, o.header.Kind = turn.Cell.Set, s.Kind
	run, err := s.measure(stops, show, measurement{scenario: &sc, entry: o.entry,
		file: filepath.Join(s.dir, turn.Trial.File), trial: &o.header, keeper: turn.Keeper})
	switch {
	case run == nil && stops.vain.Load():
		return nil, trials.Planned, err
	case err != nil:
		return run, trials.Failed, err
	case slices.ContainsFunc(run.Parts(), func(p *result.Run) bool { return p.Summary == nil || p.Summary.Interrupted || p.Summary.Aborted }):
		return run, trials.Cut, nil
	}
	return run, trials.Made, nil
}

// whereOf says which of the trials of a series a turn is about.
func whereOf(turn *trials.Turn) string { return fmt.Sprintf("run %d of %d", turn.Number, turn.Of) }

// makeCell makes a trial of a cell of many, of which begin says what it is, and tells how
// it ended; the others are made all the same.
func (s *series) makeCell(turn *trials.Turn, o trialSpec) (*result.Run, trials.State, error) {
	o.where = whereOf(turn)
	o.begin = o.where + ": " + o.begin
	run, state, err := s.measured(turn, o)
	switch {
	case state == trials.Made:
		s.noteVerdicts(o.where, run)
		if slices.ContainsFunc(run.Parts(), func(p *result.Run) bool { return p.Summary.Verdict.Status == result.Unstable }) {
			turn.Keeper.Spoil("the one before was overloaded")
		}
	case state == trials.Planned:
		return nil, state, nil // said already: nobody wants it
	case err != nil:
		s.note("%s: %s", o.where, oneLine(err.Error()))
	}
	return run, state, err
}

// noteVerdicts tells the verdict of a run, or of each of its workloads.
func (s *series) noteVerdicts(where string, run *result.Run) {
	for _, part := range run.Parts() {
		if part.Summary != nil {
			s.note("%s: %s%s", where, ofWorkload(part.Header.Workload), part.Summary.Verdict)
		}
	}
}

// note tells people something, unless they want none of it.
func (s *series) note(format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(s.Stderr, format+"\n", args...)
	}
}

// noteLeft tells how the series is gone on with, if not all of its trials were made.
func (s *series) noteLeft(one string) {
	if !s.Complete() {
		s.note("%d of %s were made; the same command with --resume %s goes on", s.Count(trials.Made), plural(len(s.Trials), one), s.dir)
	}
}

// failures is the error of the trials of a state, failed or refused, nil if there are
// none; name names a cell.
func (s *series) failures(state trials.State, name func(cell int) string) error {
	var names []string
	for _, t := range s.Trials {
		if t.State == state && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s, round %d: %s", name(t.Cell), t.Round, t.Error))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %s", plural(s.Count(state), "trial"), state, strings.Join(names, "; "))
}

// discard removes a series of which nothing was made, and more files of it, unless it was
// begun before.
func (s *series) discard(more ...string) {
	if s.resumed {
		return
	}
	var errs []error
	for _, name := range more {
		errs = append(errs, os.Remove(s.path(filepath.Join(s.dir, name))))
	}
	if err := errors.Join(append(errs, s.Discard())...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.note("%s", oneLine(err.Error())) // something is in it after all: it stays
	}
}

// nextSeed returns the seed n further on; 0 is none.
func nextSeed(seed uint64, n int) uint64 {
	next := seed + uint64(n)
	if next < seed {
		next++
	}
	return next
}

// randomSeed draws a seed.
func randomSeed() uint64 {
	var draw [8]byte
	rand.Read(draw[:]) // never fails
	return binary.LittleEndian.Uint64(draw[:])
}

// randomHex draws what tells a set of runs from all others.
func randomHex() string { return fmt.Sprintf("%016x", randomSeed()) }
