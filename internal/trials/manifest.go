package trials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sixnines/internal/filelock"
	"sixnines/result"
)

// ManifestName is the name of the manifest in the directory of a series.
const ManifestName = "manifest.json"

// format is the version of the manifest's format; it is raised when an older reader would
// misunderstand it.
const format = 1

// largestManifest is the largest manifest that is read, in bytes.
const largestManifest = 1 << 28

// State is the state of a trial.
type State string

// The states of a trial. When a series is resumed, running, cut and failed trials are made
// again, and refused ones if another trial of their cell was made. Unneeded ones are planned, until the caller
// spares them again.
const (
	Planned State = "planned" // no result exists
	Running State = "running" // begun; if no process works on the series, it was killed
	Made    State = "made"    // its result is complete
	Cut     State = "cut"     // its window was ended early: the result has the part before
	Failed  State = "failed"  // Trial.Error says why; a result may exist
	Refused State = "refused" // the broker does not support the cell, Trial.Error says why: a valid outcome
	// Unneeded is a planned trial that is not made, since what it was for is decided, see [Series.Spare].
	Unneeded State = "unneeded"
)

// Unbegun is what [Options].Both says of a trial that was ready while the other one could not begin: it stays planned,
// and that is no attempt.
const Unbegun State = "unbegun"

// Manifest describes a series and its progress.
type Manifest struct {
	Format  int       `json:"format"`
	Kind    string    `json:"kind"`    // what the series is for, such as "sweep"
	Created time.Time `json:"created"` // wall clock
	Tool    string    `json:"tool"`    // version of sixnines, the same for all trials
	// Binary is the SHA-256 of the executable, hexadecimal, because two programs built from
	// a modified tree may have the same version. Empty: unknown, or the series was begun by
	// a version that did not write it.
	Binary string `json:"binary,omitempty"`
	Seed   uint64 `json:"seed"`   // of the order
	Rounds int    `json:"rounds"` // how often each cell is planned; 0: as the time allows
	// Design says how the runs of an ab are made; nil: it is not chosen yet, or the series is no ab.
	Design   *result.Design `json:"design,omitempty"`
	Cells    []Cell         `json:"cells"`
	Pairs    []Pair         `json:"pairs,omitempty"`   // of cells of a study
	Trials   []Trial        `json:"trials"`            // in the order in which they are made
	Brokers  []Served       `json:"brokers,omitempty"` // brokers started for the series, in order of time
	Sessions []Session      `json:"sessions"`          // processes that worked on the series, in order of time
}

// Cell is one of the loads of a series.
type Cell struct {
	Name string `json:"name"` // for output; unique in the series
	Set  string `json:"set"`  // Trial.Set in the headers of its runs
	// Digest is a digest of the cell's scenario without passwords: two cells with the
	// same digest measure the same.
	Digest string `json:"digest"`
	// Inputs are digests of the files that the scenario reads, by their notation in it
	// (trace:FILE, file:PATH, corpus:DIR); empty: it reads none, or the series was begun
	// by a version that did not write them.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Values are the values of a sweep's axes in this cell, by the field's dotted key.
	Values map[string]string `json:"values,omitempty"`
	// Fresh says that each of its trials gets a broker of its own.
	Fresh bool `json:"fresh,omitempty"`
	// Takes is the planned length of a trial, without the start of a broker and without
	// waiting for late messages.
	Takes time.Duration `json:"takes_ns"`
}

// Pair are two cells of a study whose trials of a round may be made at the same time.
type Pair struct {
	Cells [2]int `json:"cells"` // indices into Manifest.Cells
	// Design says how they are made; nil: it is not chosen yet.
	Design *result.Design `json:"design,omitempty"`
}

// Trial is one run of a series.
type Trial struct {
	Cell  int    `json:"cell"`  // index into Manifest.Cells
	Round int    `json:"round"` // from 1
	Seed  uint64 `json:"seed"`  // of the scenario
	File  string `json:"file"`  // the result's, in the directory of the series
	State State  `json:"state"`
	// Began and Ended are wall-clock times of the last attempt at the trial; Session is
	// the number, from 1, of its process in Manifest.Sessions.
	Began   *time.Time `json:"began,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	Session int        `json:"session,omitempty"`
	// Broker is the number, from 1, of the broker in Manifest.Brokers that served it;
	// 0: no broker was started for it.
	Broker int    `json:"broker,omitempty"`
	Error  string `json:"error,omitempty"`
	// Replaces is the round that this trial's round replaces; 0: none. Aside says why a
	// trial's result is set aside because others were planned in its place; such a trial
	// is never made again. Empty: it is not set aside.
	Replaces int    `json:"replaces,omitempty"`
	Aside    string `json:"aside,omitempty"`
	// Attempts are the earlier ones that were begun and did not end well, or whose result went, before the series was resumed.
	Attempts []result.Attempt `json:"attempts,omitempty"`
}

// plan returns the part of a trial that does not depend on its progress, in the state Planned,
// and that an attempt was made if it was begun and did not end well. One that still runs was killed: only
// one process works on a series.
func (t *Trial) plan() Trial {
	planned := Trial{Cell: t.Cell, Round: t.Round, Seed: t.Seed, File: t.File, State: Planned, Replaces: t.Replaces, Attempts: t.Attempts}
	if ending := map[State]string{Failed: result.AttemptFailed, Cut: result.AttemptCut, Running: result.AttemptKilled}[t.State]; ending != "" {
		planned.Attempts = t.attempted(ending)
	}
	return planned
}

// attempted returns the attempts at a trial with the last one, which ended so.
func (t *Trial) attempted(ending string) []result.Attempt {
	x := result.Attempt{Ending: ending, Error: t.Error}
	if t.Began != nil {
		x.Began = *t.Began
	}
	return append(slices.Clone(t.Attempts), x)
}

// Served is a broker that was started for trials of a series.
type Served struct {
	Name    string    `json:"name"` // product, version, processes and address
	Started time.Time `json:"started"`
	Why     string    `json:"why"` // why a fresh one was started
}

// Session is a process that worked on a series.
type Session struct {
	Began time.Time `json:"began"`
	PID   int       `json:"pid"`
}

// read reads the manifest of a directory.
func read(dir string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(dir, ManifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no %s", ErrNoSeries, dir, ManifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("trials: %w", err)
	}
	defer f.Close() // read only: no write can fail here
	var m Manifest
	if err := json.NewDecoder(io.LimitReader(f, largestManifest)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %s of %s cannot be read: %w", ErrNoSeries, ManifestName, dir, err)
	}
	return &m, m.check(dir)
}

// check refuses a manifest that this package cannot have written, so that nothing outside
// the directory is read or removed because of it.
func (m *Manifest) check(dir string) error {
	if m.Format != format {
		return fmt.Errorf("%w: %s of %s has the format %d, and this program knows %d", ErrNoSeries, ManifestName, dir, m.Format, format)
	}
	for _, p := range m.Pairs {
		if min(p.Cells[0], p.Cells[1]) < 0 || max(p.Cells[0], p.Cells[1]) >= len(m.Cells) {
			return fmt.Errorf("%w: %s of %s is damaged at the pair of cells %d and %d", ErrNoSeries, ManifestName, dir, p.Cells[0], p.Cells[1])
		}
	}
	for _, t := range m.Trials {
		if t.Cell < 0 || t.Cell >= len(m.Cells) || t.File == "" || t.File != filepath.Base(t.File) || t.File == ManifestName || !filepath.IsLocal(t.File) ||
			t.Broker < 0 || t.Broker > len(m.Brokers) {
			return fmt.Errorf("%w: %s of %s is damaged at the trial of cell %d, round %d", ErrNoSeries, ManifestName, dir, t.Cell, t.Round)
		}
	}
	return nil
}

// write replaces the manifest of a directory.
func (m *Manifest) write(dir string) error {
	err := filelock.Replace(filepath.Join(dir, ManifestName), 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(m)
	})
	if err != nil {
		return fmt.Errorf("trials: write %s: %w", ManifestName, err)
	}
	return nil
}
