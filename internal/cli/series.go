package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sixnines/internal/filelock"
	"sixnines/internal/judge"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// series is a series of trials under way.
type series struct {
	*app
	*trials.Series
	cells   []cell
	dir     string // as the user would name it
	quiet   bool
	resumed bool
	stops   *seriesStops
	kept    map[int]*result.Run // runs that are needed later, by the index of their trials
	remains atomic.Bool         // a run has left something at the broker
}

// begin begins a series in a new directory below the one for results, or resumes an earlier
// series.
func (a *app) begin(o outputOptions, d design) (*series, error) {
	s := &series{app: a, cells: d.cells, dir: o.resume, quiet: o.quiet, resumed: o.resume != "", kept: map[int]*result.Run{}}
	m, err := d.manifest()
	if err != nil {
		return nil, err
	}
	m.Tool, m.Binary = a.Tool.Version, a.binary()
	if !s.resumed {
		if err := a.makeDir(o.out); err != nil {
			return nil, err
		}
		s.dir = filepath.Join(o.out, d.name)
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
		return nil, wrongUsage("wait until it has ended, or leave --resume out to begin a new series", "%s is in use: %w", s.dir, err)
	case errors.Is(err, trials.ErrProgram):
		return nil, wrongUsage("continue with the program that began it, or leave --resume out to begin a new series", "%s: %w", s.dir, err)
	case errors.Is(err, trials.ErrChanged):
		return nil, wrongUsage("give the scenario, the files that it reads and the flags as they were when it began, or leave --resume out to begin a new series", "%s: %w", s.dir, err)
	case errors.Is(err, trials.ErrNoSeries), errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("name the directory that the series made, such as results/NAME", "%w", err)
	}
	return nil, failed("check the directory and its permissions", err)
}

// load calls keep for each result that was made before, with the index of its trial.
func (s *series) load(keep func(trial int, run *result.Run)) error {
	for i, t := range s.Trials {
		if filepath.Ext(t.File) == benchExt {
			continue // a benchmark, which studies load
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

// runs returns the kept runs of the trials that want selects, in order.
func (s *series) runs(want func(trials.Trial) bool) []*result.Run {
	var all []*result.Run
	for i, t := range s.Trials {
		if run := s.kept[i]; run != nil && want(t) {
			all = append(all, run)
		}
	}
	return all
}

// result returns the result of a trial that was made before; nil if it was not. A trial whose
// file is damaged, for example by a copy to another disk, is planned again.
func (s *series) result(trial int) (*result.Run, error) {
	if s.Trials[trial].State != trials.Made {
		return nil, nil
	}
	file := filepath.Join(s.dir, s.Trials[trial].File)
	run, err := result.Load(s.path(file))
	switch {
	case err == nil && run.Complete() && judge.Altered(run) == "":
		run.SetPath(file)
		s.looked(run)
		return run, nil
	case err != nil && !errors.Is(err, result.ErrFormat):
		return nil, failed("check the file and its permissions", err)
	case s.Trials[trial].Aside != "":
		return nil, nil // it is never made again
	}
	s.note("%s is damaged; its run is repeated", file)
	return nil, s.Again(trial)
}

// earlier returns the result of a trial of a search that a former command made; nil: it has to be made. A
// search whose next trial is another one than that takes another course, which is wrong usage.
func (s *series) earlier(trial int, file string) (*result.Run, error) {
	if trial >= len(s.Trials) || s.Trials[trial].State != trials.Made {
		return nil, nil
	}
	if made := s.Trials[trial].File; made != file {
		return nil, wrongUsage("leave --resume out to begin a new search", "%s: its trial %d is %s, but the search would continue with %s", s.dir, trial+1, made, file)
	}
	return s.result(trial)
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
	o.Pausing = func(next *trials.Turn) { s.note("%s begins in %s", whereOf(next), seconds(o.Pause)) }
	err := s.Run(o)
	s.noteAgain()
	return err
}

// noteAgain says which runs were made again, and why.
func (s *series) noteAgain() {
	for i, t := range s.Trials {
		if again := judge.Again(t.Attempts); again != "" && t.State != trials.Planned {
			s.note("run %d of %d %s", i+1, len(s.Trials), oneLine(again))
		}
	}
}

// trialSpec describes how to make a trial of a series.
type trialSpec struct {
	scenario *scenario.Scenario // nil: the cell's
	header   result.Trial       // without Set and Kind
	where    string             // prefix of what is printed about it, such as "run 1 of 3"; may be empty
	begin    string             // printed when it begins
	// start, if not nil, is the run's engine.Config.Start.
	start func(context.Context, int64) (int64, error)
}

// measured makes one trial. The error is that of [app.measure].
func (s *series) measured(turn *trials.Turn, o trialSpec) (*result.Run, trials.State, error) {
	show := s.display(s.quiet, cmp.Or(o.scenario, s.cells[turn.Trial.Cell].scenario), endsSeries)
	defer show.close()
	stops := s.stops.next(func(text string) { show.say(ofWorkload(o.where) + text) })
	defer s.stops.done()
	show.say(o.begin)
	return s.run(turn, o, stops, show)
}

// run is the part of [series.measured] that makes the run.
func (s *series) run(turn *trials.Turn, o trialSpec, stops *interrupts, show display) (*result.Run, trials.State, error) {
	c := &s.cells[turn.Trial.Cell]
	sc := *cmp.Or(o.scenario, c.scenario)
	sc.Reseed(turn.Trial.Seed)
	o.header.Set, o.header.Kind, o.header.Attempts = turn.Cell.Set, s.Kind, turn.Trial.Attempts
	run, err := s.measure(stops, show, measurement{scenario: &sc, entry: c.entry,
		file: filepath.Join(s.dir, turn.Trial.File), trial: &o.header, keeper: turn.Keeper, about: o.begin, start: o.start})
	s.looked(run)
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

// looked notes whether a run, which may be nil, has left something at the broker.
func (s *series) looked(run *result.Run) {
	var t tally
	if run != nil {
		t.run(run)
	}
	if t.left > 0 {
		s.remains.Store(true)
	}
}

// remained is the error of a series whose conclusions pass: that of runs that left something at the broker.
func (s *series) remained() error {
	if !s.remains.Load() {
		return nil
	}
	s.note("something of a run is still at the broker: the results say what, as left")
	return passing{}.end(tally{left: 1})
}

// whereOf says which of the trials of a series a turn is about.
func whereOf(turn *trials.Turn) string { return fmt.Sprintf("run %d of %d", turn.Number, turn.Of) }

// makeCell makes a trial of a cell that has that many rounds, and says how it ended; the
// others are made all the same.
func (s *series) makeCell(turn *trials.Turn, rounds int) (*result.Run, trials.State, error) {
	o := trialSpec{where: whereOf(turn), header: s.headerOfRound(turn, rounds)}
	o.begin = fmt.Sprintf("%s: %s, round %d", o.where, s.cells[turn.Trial.Cell].label, turn.Trial.Round)
	return s.cellMade(turn)(s.measured(turn, o))
}

// headerOfRound is what the result of a turn says of its place among the planned rounds of its cell.
func (s *series) headerOfRound(turn *trials.Turn, rounds int) result.Trial {
	h := result.Trial{Index: turn.Trial.Round, Of: max(rounds, turn.Trial.Round)}
	if pair := s.Paired(turn.Trial.Cell); pair >= 0 {
		h.Design = s.Pairs[pair].Design
	}
	return h
}

// cellMade says how a trial of a cell ended. A run that was stopped before its window is none, which has been said.
func (s *series) cellMade(turn *trials.Turn) func(*result.Run, trials.State, error) (*result.Run, trials.State, error) {
	return func(run *result.Run, state trials.State, err error) (*result.Run, trials.State, error) {
		where := whereOf(turn)
		switch {
		case state == trials.Made:
			s.noteVerdicts(where, run)
			if slices.ContainsFunc(run.Parts(), func(p *result.Run) bool { return p.Summary.Verdict.Status == result.Unstable }) {
				turn.Keeper.Spoil("the previous one was overloaded")
			}
		case state == trials.Planned:
			return nil, state, nil
		case err != nil:
			s.note("%s: %s", where, oneLine(err.Error()))
		}
		return run, state, err
	}
}

// noteVerdicts reports the verdict of a run, or of each of its workloads.
func (s *series) noteVerdicts(where string, run *result.Run) {
	for _, part := range run.Parts() {
		if part.Summary != nil {
			s.note("%s: %s%s", where, ofWorkload(part.Header.Workload), part.Summary.Verdict)
		}
	}
}

// note prints a line on stderr, unless --quiet asks for none.
func (s *series) note(format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(s.Stderr, format+"\n", args...)
	}
}

// noteLeft says how to resume the series, if trials are left.
func (s *series) noteLeft(one string) {
	if !s.Complete() {
		s.note("%d of %s were made; the same command with --resume %s continues", s.Count(trials.Made), plural(len(s.Trials), one), s.dir)
	}
}

// failures is the error of the trials of a state, failed or refused; nil without any.
func (s *series) failures(state trials.State) error {
	var names []string
	for _, t := range s.Trials {
		if t.State == state && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s, round %d: %s", s.cells[t.Cell].label, t.Round, t.Error))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %s", plural(s.Count(state), "trial"), state, strings.Join(names, "; "))
}

// left counts the trials that are still planned, and adds up what each of their cells
// takes, and what a fleet adds to it.
func (s *series) left(of func(*cell) time.Duration) (n int, takes time.Duration) {
	for _, t := range s.Trials {
		if t.State == trials.Planned {
			n++
			takes += of(&s.cells[t.Cell]) + s.fleetTakes()
		}
	}
	return n, takes
}

// nothing is the error of a series that ended before what it needs was complete, such as
// "a trial". Its directory goes, with more files of it, if no trial left anything.
func (s *series) nothing(ended error, needs string, more ...string) error {
	if s.Count(trials.Planned) == len(s.Trials) {
		s.discard(more...)
	}
	return cmp.Or(ended, failed("repeat the command and let it finish "+needs, errors.New("stopped before "+needs+" was complete")))
}

// discard removes a series without results, and more of its files, unless an earlier
// command began it.
func (s *series) discard(more ...string) {
	if s.resumed {
		return
	}
	var errs []error
	for _, name := range more {
		errs = append(errs, os.Remove(s.path(filepath.Join(s.dir, name))))
	}
	if err := errors.Join(append(errs, s.Discard())...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.note("%s", oneLine(err.Error())) // the directory is not empty, so it stays
	}
}

// nextSeed returns the n-th seed after a seed. It is never 0, which means no seed.
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

// randomHex draws an identifier of a set of runs.
func randomHex() string { return fmt.Sprintf("%016x", randomSeed()) }
