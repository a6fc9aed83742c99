package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"sixnines/internal/secret"
	"sixnines/result"
)

// output is where records go: a file, even if the caller does not want it, so that
// the run's memory does not grow with its length; the Run that is returned is
// read from it. Events that come before the header wait for it. Its methods are safe for concurrent use,
// but for write and clean: events come from any goroutine, intervals from the collector.
type output struct {
	mu      sync.Mutex // guards the rest
	writer  *result.Writer
	path    string
	scratch string         // directory to remove when the file has been read; empty: the caller keeps the file
	origin  int64          // start of the run's window, CLOCK_MONOTONIC; records are relative to it
	begun   bool           // the headers are written
	filled  bool           // at least one interval is written
	ended   bool           // the file is closed, or about to be: later events are dropped
	waiting []result.Event // those that came before the headers
	events  eventLog
	secrets []string // what no event may contain
	err     error    // the first error of a write; nothing is written after it
}

func newOutput(path string, secrets []string) (*output, error) {
	o := &output{path: path, secrets: secrets}
	if path == "" {
		dir, err := os.MkdirTemp("", "sixnines-run-")
		if err != nil {
			return nil, fmt.Errorf("make a directory for the intervals: %w", err)
		}
		o.scratch, o.path = dir, filepath.Join(dir, "run.jsonl")
	}
	w, err := result.Create(o.path)
	if err != nil {
		o.clean()
		return nil, err
	}
	o.writer = w
	return o, nil
}

func (o *output) clean() {
	if o.scratch != "" {
		_ = os.RemoveAll(o.scratch) // a directory that stays in the temporary one is harmless
	}
}

func (o *output) begin(origin int64, headers ...result.Header) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.origin, o.begun = origin, true
	for _, h := range headers {
		if err := o.writer.Header(h); err != nil {
			return err
		}
	}
	for _, e := range o.waiting {
		o.write(e)
	}
	o.waiting = nil
	return o.err
}

// event takes an event, whose instant is CLOCK_MONOTONIC.
func (o *output) event(e result.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.events.add(e, o.write)
	}
}

// write writes an event, or keeps it until the headers are written. The lock is held.
func (o *output) write(e result.Event) {
	if !o.begun {
		o.waiting = append(o.waiting, e)
		return
	}
	e = e.Since(o.origin)
	e.Detail = secret.Conceal(e.Detail, o.secrets) // clients quote addresses
	if o.err == nil {
		o.err = o.writer.Event(e)
	}
}

func (o *output) interval(v result.Interval) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err, o.filled = o.writer.Interval(v), true
	}
	return o.err
}

// end reads back what was written, has its parts summarised, and closes the file. The error is the first
// of a write, or that of reading back.
func (o *output) end(summarise func(part *result.Run) result.Summary) (*result.Run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events.flush(o.write)
	o.ended = true
	defer o.clean()
	if o.err != nil {
		return nil, o.err
	}
	run, err := result.Load(o.path)
	if err != nil {
		return nil, err
	}
	for _, part := range run.Parts() {
		s := summarise(part)
		s.Type = "summary"
		if err := o.writer.Summary(s); err != nil {
			return nil, err
		}
		if err := part.Add(result.Record{Summary: &s}); err != nil {
			return nil, err
		}
	}
	if err := o.writer.Close(); err != nil {
		return nil, err
	}
	if o.scratch != "" {
		run.SetPath("")
	}
	return run, nil
}

// discard closes the file of a run that failed. A file without an interval is
// removed: nothing was measured.
func (o *output) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = true
	_ = o.writer.Close() // the run's own error is the one to tell
	if !o.filled {
		removeFile(o.path)
	}
	o.clean()
}

// removeFile removes a file that has nothing in it; if it stays, that is harmless.
func removeFile(path string) { _ = os.Remove(path) }
