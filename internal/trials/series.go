package trials

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/internal/filelock"
	"sixnines/result"
)

// lockName is the file whose lock a process holds while it works in the directory.
const lockName = ".lock"

// Errors that are wrapped.
var (
	ErrNoSeries = errors.New("no series to go on with")             // by Resume
	ErrChanged  = errors.New("the series is not the one asked for") // by Resume
	ErrProgram  = errors.New("another program began the series")    // by Resume, beside ErrChanged
	// That a directory is in use is filelock.ErrBusy.
)

// Series is a series in its directory, which this process has locked until Close. A Series
// must not be used concurrently.
type Series struct {
	Manifest
	dir    string
	unlock func()
	now    func() time.Time
	other  bool
}

// Other reports whether another program made the trials. All of them are made then; this
// program may show their results but makes no more.
func (s *Series) Other() bool { return s.other }

// New begins a series in a directory, which it creates. The manifest must have Kind, Tool,
// Seed, Rounds, Cells, and Trials with Cell, Round, Seed and File.
func New(dir string, m Manifest) (*Series, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("trials: %w", err)
	}
	s := &Series{Manifest: m, dir: dir, now: time.Now}
	var err error
	if s.unlock, err = filelock.Take(filepath.Join(dir, lockName)); err != nil {
		return nil, fmt.Errorf("trials: %w", err)
	}
	s.Format, s.Created, s.Sessions, s.Brokers = format, s.now(), nil, nil
	for i := range s.Trials {
		s.Trials[i].State = Planned
	}
	return s, s.begin()
}

// Resume continues the series in a directory. want is as for New, but its order, seeds,
// file names and sets are replaced by those of the manifest. Errors wrap [ErrNoSeries],
// [ErrChanged] or [filelock.ErrBusy]. Results of incomplete trials are removed. A series
// that another program began is accepted only if it is complete, see [Series.Other].
func Resume(dir string, want Manifest) (*Series, error) {
	if _, err := read(dir); err != nil {
		return nil, err // before a lock file is left in a directory that is no series
	}
	s := &Series{dir: dir, now: time.Now}
	var err error
	if s.unlock, err = filelock.Take(filepath.Join(dir, lockName)); err != nil {
		return nil, fmt.Errorf("trials: %w", err)
	}
	m, err := read(dir) // again, now under the lock: the first one may have been out of date
	if err == nil {
		s.other = m.otherProgram(want)
		err = m.same(want)
	}
	if err == nil && s.other && !m.whole(dir) {
		err = m.anotherBegan(want)
	}
	if err != nil {
		s.unlock()
		return nil, err
	}
	s.Manifest = *m
	for i := range s.Trials {
		t := &s.Trials[i]
		if t.Aside != "" || s.refused(t) || t.State == Unneeded && s.other {
			continue
		}
		if t.State == Made {
			if _, err := os.Stat(filepath.Join(dir, t.File)); err == nil {
				continue
			} else if !errors.Is(err, fs.ErrNotExist) {
				s.unlock()
				return nil, fmt.Errorf("trials: %w", err)
			}
			t.Attempts = t.attempted(result.AttemptLost)
		}
		if err := s.clear(t); err != nil {
			s.unlock()
			return nil, err
		}
	}
	return s, s.begin()
}

// begin adds this process to the manifest's sessions.
func (s *Series) begin() error {
	s.Sessions = append(s.Sessions, Session{Began: s.now(), PID: os.Getpid()})
	if err := s.write(s.dir); err != nil {
		s.unlock()
		return err
	}
	return nil
}

// same returns an error that says how the wanted series differs from the manifest; nil if it
// does not.
func (m *Manifest) same(want Manifest) error {
	differ := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrChanged, fmt.Sprintf(format, args...))
	}
	switch {
	case m.Kind != want.Kind:
		return differ("it is of the kind %s, not %s", m.Kind, want.Kind)
	case m.Rounds != want.Rounds:
		return differ("it has %d rounds, not %d", m.Rounds, want.Rounds)
	case len(m.Cells) != len(want.Cells):
		return differ("it has %d cells, not %d", len(m.Cells), len(want.Cells))
	}
	for i, c := range m.Cells {
		w := want.Cells[i]
		switch {
		case c.Name != w.Name:
			return differ("its cell %d is %s, not %s", i+1, c.Name, w.Name)
		case c.Digest != w.Digest:
			return differ("the scenario of %s has changed since", c.Name)
		case changed(c.Inputs, w.Inputs) != "":
			return differ("the content of %s, which %s reads, has changed since", changed(c.Inputs, w.Inputs), c.Name)
		case c.Fresh != w.Fresh:
			return differ("%s had a broker for each trial, or has one now", c.Name)
		}
	}
	return nil
}

// otherProgram reports whether another program began the series: another version, or another
// build of the same version.
func (m *Manifest) otherProgram(want Manifest) bool {
	return m.Tool != want.Tool || m.Binary != "" && want.Binary != "" && m.Binary != want.Binary
}

// anotherBegan is the error that only the program that began the series can continue it.
func (m *Manifest) anotherBegan(want Manifest) error {
	if m.Tool != want.Tool {
		return fmt.Errorf("%w, %w: it was begun by version %s, which alone can go on with it, and this is %s", ErrChanged, ErrProgram, m.Tool, want.Tool)
	}
	return fmt.Errorf("%w, %w: it was begun by another build of version %s, which alone can go on with it (the executable's SHA-256 was %.12s…, and this is %.12s…)", ErrChanged, ErrProgram, m.Tool, m.Binary, want.Binary)
}

// whole reports whether all trials are refused for good, or made with an existing result;
// trials set aside and those that are not needed do not count.
func (m *Manifest) whole(dir string) bool {
	return !slices.ContainsFunc(m.Trials, func(t Trial) bool {
		_, err := os.Stat(filepath.Join(dir, t.File))
		return t.Aside == "" && !m.refused(&t) && t.State != Unneeded && (t.State != Made || err != nil)
	})
}

// changed returns the name of the first input with another digest now; it is empty if all are
// unchanged.
func changed(then, now map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if now[name] != then[name] {
			return name
		}
	}
	return ""
}

// Again plans a trial, numbered from 0, anew because its result was damaged after it was made,
// and removes what is left of it. The error wraps [ErrChanged] if another program made it.
func (s *Series) Again(trial int) error {
	if s.other {
		return fmt.Errorf("%w: version %s made %s, and it is damaged", ErrChanged, s.Tool, s.Trials[trial].File)
	}
	t := &s.Trials[trial]
	t.Attempts = t.attempted(result.AttemptLost)
	return s.clear(t)
}

// clear removes the files of a trial and plans it anew.
func (s *Series) clear(t *Trial) error {
	for _, name := range []string{t.File, strings.TrimSuffix(t.File, ".jsonl") + ".raw"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trials: remove what is left of a trial: %w", err)
		}
	}
	if err := os.RemoveAll(result.AgentsDir(filepath.Join(s.dir, t.File))); err != nil { // of a run on a fleet
		return fmt.Errorf("trials: remove what is left of a trial: %w", err)
	}
	*t = t.plan()
	return nil
}

// Count returns how many trials are in a state.
func (s *Series) Count(state State) int {
	n := 0
	for _, t := range s.Trials {
		if t.State == state {
			n++
		}
	}
	return n
}

// Worked reports whether a trial of a cell was made.
func (m *Manifest) Worked(cell int) bool {
	return slices.ContainsFunc(m.Trials, func(t Trial) bool { return t.Cell == cell && t.State == Made })
}

// refused reports whether a trial is refused for good. It is not if another trial of its cell
// was made, because the broker then supports the cell.
func (m *Manifest) refused(t *Trial) bool { return t.State == Refused && !m.Worked(t.Cell) }

// Complete reports whether all trials that are needed were made, or refused for good.
func (s *Series) Complete() bool {
	return !slices.ContainsFunc(s.Trials, func(t Trial) bool { return t.State != Made && t.State != Unneeded && !s.refused(&t) })
}

// Spare makes planned trials unneeded, and returns how many.
func (s *Series) Spare(unneeded func(Trial) bool) (n int, err error) {
	for i := range s.Trials {
		if t := &s.Trials[i]; t.State == Planned && t.Aside == "" && unneeded(*t) {
			t.State = Unneeded
			n++
		}
	}
	if n > 0 {
		err = s.write(s.dir)
	}
	return n, err
}

// Choose writes down how the runs of the series are made.
func (s *Series) Choose(d *result.Design) error {
	s.Design = d
	return s.write(s.dir)
}

// ChoosePair writes down how the trials of a pair of cells, numbered from 0, are made.
func (s *Series) ChoosePair(pair int, d *result.Design) error {
	s.Pairs[pair].Design = d
	return s.write(s.dir)
}

// Paired returns the number of a cell's pair, from 0; negative: it has none.
func (m *Manifest) Paired(cell int) int {
	return slices.IndexFunc(m.Pairs, func(p Pair) bool { return p.Cells[0] == cell || p.Cells[1] == cell })
}

// Drop forgets the trials that are still planned: none of them will be made.
func (s *Series) Drop() error {
	s.Trials = slices.DeleteFunc(s.Trials, func(t Trial) bool { return t.State == Planned && t.Aside == "" })
	return s.write(s.dir)
}

// Close releases the lock on the directory.
func (s *Series) Close() { s.unlock() }

// Discard removes a series without runs, and its directory if nothing else is in it. It closes
// the series.
func (s *Series) Discard() error {
	var all []error
	for _, name := range []string{ManifestName, lockName} {
		all = append(all, os.Remove(filepath.Join(s.dir, name)))
	}
	s.unlock()
	return errors.Join(append(all, os.Remove(s.dir))...)
}
