package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// toStdout is what --out names stdout by.
const toStdout = "-"

// growPause is the pause between two reads of a growing file.
const growPause = 100 * time.Millisecond

// growing is a file that is being written while it is read.
type growing struct {
	path string
	file *os.File // nil: it was not there yet
}

// copy copies what has come since it was called last.
func (g *growing) copy(to io.Writer) (err error) {
	if g.file == nil {
		if g.file, err = os.Open(g.path); errors.Is(err, fs.ErrNotExist) {
			return nil // nothing has been written yet, or all of it is gone
		} else if err != nil {
			return err
		}
	}
	_, err = io.Copy(to, g.file)
	return err
}

func (g *growing) close() {
	if g.file != nil {
		_ = g.file.Close() // read only: nothing to lose
	}
}

// stream copies a result file to stdout while it is being written, record by record and
// without delaying the writer.
type stream struct {
	dir  string // the file is in it; gone with close, unless stdout could not take all of it
	file string
	stop chan struct{}
	done chan struct{} // closed as soon as nothing more is copied
	err  error         // once done
	over func()        // ends that a broken pipe is an error
}

// newStream makes a place for a result file, and begins to copy it.
func (env *Env) newStream(name string) (*stream, error) {
	dir, err := os.MkdirTemp("", "sixnines-run-")
	if err != nil {
		return nil, failed("name a directory with --out", fmt.Errorf("create a temporary directory for the records: %w", err))
	}
	s := &stream{dir: dir, file: filepath.Join(dir, name+".jsonl"), stop: make(chan struct{}), done: make(chan struct{}), over: brokenPipes()}
	go s.copy(env.Stdout)
	return s, nil
}

// copy copies until stop is closed, and then what is left.
func (s *stream) copy(to io.Writer) {
	defer close(s.done)
	f := growing{path: s.file}
	defer f.close()
	for last := false; ; {
		if s.err = f.copy(to); s.err != nil || last {
			return
		}
		select {
		case <-time.After(growPause):
		case <-s.stop:
			last = true
		}
	}
}

// watch calls broken, once, if the records cannot be copied any more before stop is called.
func (s *stream) watch(broken func(error)) (stop func()) {
	stopped, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.done:
			if s.err != nil {
				broken(s.err)
			}
		case <-stopped:
		}
	}()
	return func() { close(stopped); <-watched }
}

// close copies what is left, and removes the file, unless it is the only one with all records.
func (s *stream) close() error {
	close(s.stop)
	<-s.done
	s.over()
	if info, err := os.Stat(s.file); s.err != nil && err == nil && info.Size() > 0 {
		return failed("write the next result into a directory with --out DIR", fmt.Errorf("copy the records to stdout: %w; they are in %s", s.err, s.file))
	}
	_ = os.RemoveAll(s.dir) // a leftover in the temporary directory is harmless
	if s.err != nil {
		return failed("write the result into a directory with --out DIR", fmt.Errorf("copy the records to stdout: %w", s.err))
	}
	return nil
}

// checkStreamed refuses options that need stdout for something else.
func (o runOptions) checkStreamed(scenarios []cell) error {
	switch {
	case o.out != toStdout:
		return nil
	case o.json:
		return wrongUsage("leave one of them out: the last record is the summary", "--out - and --json both write to stdout")
	case len(scenarios) > 1 || o.repeat > 1:
		return wrongUsage("name a directory with --out", "--out - writes a single run, and these are several")
	}
	for _, part := range scenarios[0].scenario.Parts() {
		if part.Scenario.Record.Raw {
			return wrongUsage("name a directory with --out", "--raw writes a file beside the result, but --out - writes no files")
		}
	}
	return nil
}
