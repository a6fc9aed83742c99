package trials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sixnines/internal/filelock"
)

// ManifestName is the name of the manifest in the directory of a series.
const ManifestName = "manifest.json"

// format is the manifest's, raised when an older reader would misunderstand it.
const format = 1

// largestManifest is how many bytes of a manifest are read at most.
const largestManifest = 1 << 28

// State is how far a trial has come.
type State string

// The states of a trial. Those that are running, cut or failed are made again when the
// series goes on, and those that are refused if another trial of their cell was made.
const (
	Planned State = "planned" // nothing of it exists
	Running State = "running" // begun; in a manifest without a process: it ended meanwhile
	Made    State = "made"    // its result is complete
	Cut     State = "cut"     // its window was ended before its time: the result holds what there was
	Failed  State = "failed"  // Trial.Error says why; there may be a result
	Refused State = "refused" // the broker does not do what the cell asks for, as Trial.Error says: an answer
)

// Manifest is what a series is and how far it has come.
type Manifest struct {
	Format  int       `json:"format"`
	Kind    string    `json:"kind"`    // what the series is for, such as "sweep"
	Created time.Time `json:"created"` // wall clock
	Tool    string    `json:"tool"`    // version of sixnines, the same for all trials
	// Binary is the SHA-256 of the executable, hexadecimal: two programs that were built
	// from a changed tree may have the same version. Empty: not known, or the series was
	// begun before it was kept.
	Binary   string    `json:"binary,omitempty"`
	Seed     uint64    `json:"seed"`   // of the order
	Rounds   int       `json:"rounds"` // how often each cell is planned
	Cells    []Cell    `json:"cells"`
	Trials   []Trial   `json:"trials"`            // in the order in which they are made
	Brokers  []Served  `json:"brokers,omitempty"` // those that were started, in their order
	Sessions []Session `json:"sessions"`          // the processes that worked on it, in their order
}

// Cell is one of the loads of a series.
type Cell struct {
	Name string `json:"name"` // for people; unique in the series
	Set  string `json:"set"`  // what the headers of its runs carry in Trial.Set
	// Digest is of the cell's scenario without passwords: two cells of the same
	// digest measure the same.
	Digest string `json:"digest"`
	// Inputs are digests of what the scenario reads from files, by how it names them
	// (trace:FILE, file:PATH, corpus:DIR); none: it reads nothing, or the series was
	// begun before they were kept.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Values are what the axes of a sweep have here, by the field's dotted key.
	Values map[string]string `json:"values,omitempty"`
	// Fresh says that each of its trials gets a broker of its own.
	Fresh bool `json:"fresh,omitempty"`
	// Takes is how long a trial takes, ns, without the start of a broker and
	// without waiting for late messages.
	Takes time.Duration `json:"takes_ns"`
}

// Trial is one run of a series.
type Trial struct {
	Cell  int    `json:"cell"`  // index into Manifest.Cells
	Round int    `json:"round"` // from 1
	Seed  uint64 `json:"seed"`  // of the scenario
	File  string `json:"file"`  // the result's, in the directory of the series
	State State  `json:"state"`
	// Began and Ended are by the wall clock and of the last time that the trial was
	// made; Session is the number in Manifest.Sessions of who made it, from 1.
	Began   *time.Time `json:"began,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	Session int        `json:"session,omitempty"`
	// Broker is the number of the broker in Manifest.Brokers that served it, from
	// 1; 0: none that was started for the series.
	Broker int    `json:"broker,omitempty"`
	Error  string `json:"error,omitempty"`
	// Replaces is the round whose trials are made again by this one and those of its
	// round; 0: none. Aside says why a trial's result is set aside, and that others
	// were planned in its place: it is never made again.
	Replaces int    `json:"replaces,omitempty"`
	Aside    string `json:"aside,omitempty"`
}

// plan is the part of a trial that does not depend on how far it has come.
func (t *Trial) plan() Trial {
	return Trial{Cell: t.Cell, Round: t.Round, Seed: t.Seed, File: t.File, State: Planned, Replaces: t.Replaces}
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
	defer f.Close() // read only: nothing to lose
	var m Manifest
	if err := json.NewDecoder(io.LimitReader(f, largestManifest)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %s of %s cannot be read: %w", ErrNoSeries, ManifestName, dir, err)
	}
	return &m, m.check(dir)
}

// check refuses a manifest that this package did not write: nothing outside of
// the directory is read or removed for its sake.
func (m *Manifest) check(dir string) error {
	if m.Format != format {
		return fmt.Errorf("%w: %s of %s has the format %d, and this program knows %d", ErrNoSeries, ManifestName, dir, m.Format, format)
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
