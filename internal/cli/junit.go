package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sixnines/internal/filelock"
	"sixnines/internal/report"
	"sixnines/result"
)

// junitProbe proves that a JUnit file can be written, before anything is run.
func (env *Env) junitProbe(file string) error { return env.replaceProbe(file, "--junit", "junit.xml") }

// replaceProbe proves that a file can be made or replaced, before anything is run: the value of a flag,
// which usually has a name such as that one. Empty: it is not asked for.
func (env *Env) replaceProbe(file, flag, name string) error {
	if file == "" {
		return nil
	}
	path := env.path(file)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return wrongUsage("name a file in it, such as "+flag+" "+filepath.Join(file, name), "%s is a directory", file)
	}
	if err := filelock.Replaceable(path); err != nil {
		return wrongUsage("create the directory first, or name another file with "+flag+" FILE", "%s cannot be written: %w", file, err)
	}
	return nil
}

// writeJUnit writes the suites of the runs, and more, to a JUnit file, completely or not
// at all. It replaces an existing file, since a CI job reads a fixed name. Without a file
// it does nothing.
func (env *Env) writeJUnit(file string, p passing, runs []*result.Run, more ...report.JUnitSuite) error {
	if file == "" {
		return nil
	}
	var suites []report.JUnitSuite
	if len(runs) > 0 {
		var err error
		if suites, err = report.JUnitSuites(runs, p.allowUndecided); err != nil {
			return failed("", err)
		}
	}
	err := filelock.Replace(env.path(file), 0o644, func(w io.Writer) error { return report.JUnit(w, append(suites, more...)) })
	if err != nil {
		return failed(fileHint(err), fmt.Errorf("write the JUnit file: %w", err))
	}
	return nil
}

// wentWrong returns the suite of a run that failed. Without it, the file of an earlier run
// that passed would remain.
func wentWrong(err error) report.JUnitSuite {
	return report.JUnitSuite{Name: "run", Cases: []report.JUnitCase{{Name: "run", Error: oneLine(err.Error())}}}
}
