package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sixnines/internal/filelock"
	"sixnines/scenario"
)

// resultName returns the unique name of a run's files, without extension: what was run,
// when, and random bytes.
func resultName(s *scenario.Scenario, now time.Time) string {
	var id [4]byte
	rand.Read(id[:]) // never fails
	return fmt.Sprintf("%s-%s-%x", strings.ReplaceAll(titleOf(s), " ", "-"), now.UTC().Format("20060102T150405Z"), id)
}

// titleOf is a scenario's name, or what it runs.
func titleOf(s *scenario.Scenario) string {
	switch {
	case s.Name != "":
		return s.Name
	case len(s.Workloads) > 0:
		return s.Target.Driver + " workloads"
	}
	return s.Target.Driver + " " + string(s.Workload.Pattern)
}

// makeDir makes the directory of results, and checks that files can be made in it before
// anything is run. Directories that it made go again if nothing came into them.
func (a *app) makeDir(dir string) error {
	if dir == toStdout {
		return wrongUsage("name a directory with --out", "--out - writes a single run to stdout, but this command makes several files")
	}
	for missing := filepath.Clean(a.path(dir)); ; missing = filepath.Dir(missing) {
		if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		a.made = append(a.made, missing)
	}
	err := os.MkdirAll(a.path(dir), 0o755)
	if err == nil {
		err = unmade(os.CreateTemp(a.path(dir), ".sixnines-*"))
	}
	if err != nil {
		return wrongUsage("choose another directory with --out DIR", "results cannot be written to %s: %w", dir, err)
	}
	return nil
}

// unmakeDirs removes the directories that [app.makeDir] made and that are empty.
func (a *app) unmakeDirs() {
	for _, dir := range a.made { // the deepest first
		if os.Remove(dir) != nil {
			return // it holds something
		}
	}
}

// unmade removes a file that was made as a test.
func unmade(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeNew writes a file that must not exist yet, unless replace is set, see [filelock.Replace]. It
// leaves nothing behind if write fails, and an old file as it is.
func (env *Env) writeNew(name string, replace bool, write func(w io.Writer) error) error {
	// In memory first: a report that fails half-way must not cost the old file.
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if replace {
		return filelock.Replace(env.path(name), 0o644, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
	}
	f, err := os.OpenFile(env.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(env.path(name)))
	}
	return nil
}

// fileHint says what to do about an error in writing files.
func fileHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrExist):
		return "existing files are never overwritten: name another one"
	case errors.Is(err, fs.ErrPermission):
		return "choose a writable directory with --out"
	case errors.Is(err, syscall.ENOSPC):
		return "free some disk space, or choose another directory with --out"
	case errors.Is(err, fs.ErrNotExist):
		return "create the directory first, or choose another with --out"
	}
	return "choose another directory with --out"
}

// beside returns the name of a file next to a result file.
func beside(dir, name, extension string) string { return filepath.Join(dir, name+extension) }
