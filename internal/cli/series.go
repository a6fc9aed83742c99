package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/filelock"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

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

// inputDigests are the digests of what scenarios read from files, each read once however
// many cells of a series have it.
type inputDigests map[engine.Input]string

// cell adds to a cell of a manifest what tells its scenario apart.
func (known inputDigests) cell(c trials.Cell, s *scenario.Scenario, e driver.Entry) (trials.Cell, error) {
	var err error
	if c.Digest, err = digestOf(s, e); err != nil {
		return c, err
	}
	for _, in := range engine.Inputs(s) {
		if known[in] == "" {
			if known[in], err = in.Digest(); err != nil {
				return c, runFault(err, s, e, false)
			}
		}
		if c.Inputs == nil {
			c.Inputs = map[string]string{}
		}
		c.Inputs[in.Name] = known[in]
	}
	return c, nil
}

// openSeries begins a series in dir, or goes on with the one that is there.
func (a *app) openSeries(dir string, resume bool, m trials.Manifest) (*trials.Series, error) {
	m.Tool = a.Tool.Version
	if !resume {
		s, err := trials.New(a.path(dir), m)
		if err != nil {
			return nil, failed(fileHint(err), fmt.Errorf("begin the series in %s: %w", dir, err))
		}
		return s, nil
	}
	s, err := trials.Resume(a.path(dir), m)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, filelock.ErrBusy):
		return nil, wrongUsage("wait until it has ended, or leave --resume out to make a series of its own", "%s is in use: %w", dir, err)
	case errors.Is(err, trials.ErrChanged):
		return nil, wrongUsage("give the scenario, the files that it reads and the flags with which it was begun, or leave --resume out to make a series of its own", "%s: %w", dir, err)
	case errors.Is(err, trials.ErrNoSeries), errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("name the directory that the series made, such as results/NAME", "%w", err)
	}
	return nil, failed("check the directory and its permissions", err)
}

// series is a series under way: who makes its trials.
type series struct {
	*app
	*trials.Series
	dir   string // as the user would name it
	quiet bool
	stops *seriesStops
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

// one is a trial of a series, as its command wants it made.
type one struct {
	scenario *scenario.Scenario
	entry    driver.Entry
	header   result.Trial
	before   string // is said before the pause
	begin    string // is said when it begins
	prefix   string // stands before what a signal did
}

// make makes one trial. The error is of the run, as measure returns it.
func (s *series) make(turn *trials.Turn, o one) (*result.Run, trials.State, error) {
	show := s.display(s.quiet, endsSeries, o.scenario)
	defer show.close()
	if turn.Pause > 0 {
		show.say(o.before)
	}
	if !turn.Wait() {
		return nil, trials.Planned, nil
	}
	stops := s.stops.next(func(text string) { show.say(o.prefix + text) })
	defer s.stops.done()
	show.say(o.begin)
	sc := *o.scenario
	sc.Reseed(turn.Trial.Seed)
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

// sayProgress tells how far the series has come.
func (s *series) sayProgress(p trials.Progress) {
	if !s.quiet && p.Done < p.Of && !s.stops.ending() {
		s.note("%d of %s, about %s left", p.Done, plural(p.Of, "run"), seconds(p.Left.Round(time.Second)))
	}
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

// nextSeed returns the seed n further on; 0 is none.
func nextSeed(seed uint64, n int) uint64 {
	next := seed + uint64(n)
	if next < seed {
		next++
	}
	return next
}
