// Package output writes the records of a run to its result, with few records for many events of one
// kind, and reads them back for the run that is returned.
package output

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"sixnines/internal/resultfile"
	"sixnines/internal/secret"
	"sixnines/result"
)

// Output is where records go: a file, even if the caller does not want it, so that
// the run's memory does not grow with its length; the Run that is returned is
// read from it. Events that come before the header wait for it. Its methods are safe for concurrent use:
// events come from any goroutine, intervals from the collector.
type Output struct {
	mu      sync.Mutex // guards the rest
	writer  *resultfile.Writer
	path    string
	scratch string         // directory to remove when the file has been read; empty: the caller keeps the file
	origin  int64          // start of the run's window, CLOCK_MONOTONIC; records are relative to it
	begun   bool           // the headers are written
	filled  bool           // at least one interval is written
	ended   bool           // the file is closed, or about to be: later events are dropped
	waiting []result.Event // those that came before the headers
	events  log
	secrets []string // what no event may contain
	err     error    // the first error of a write; nothing is written after it
}

// New makes the file. An empty path is a file in a temporary directory, which End removes. No event will
// contain one of secrets.
func New(path string, secrets []string) (*Output, error) {
	o := &Output{path: path, secrets: secrets}
	if path == "" {
		dir, err := os.MkdirTemp("", "sixnines-run-")
		if err != nil {
			return nil, fmt.Errorf("make a directory for the intervals: %w", err)
		}
		o.scratch, o.path = dir, filepath.Join(dir, "run.jsonl")
	}
	w, err := resultfile.Create(o.path)
	if err != nil {
		o.clean()
		return nil, err
	}
	o.writer = w
	return o, nil
}

func (o *Output) clean() {
	if o.scratch != "" {
		_ = os.RemoveAll(o.scratch) // a directory that stays in the temporary one is harmless
	}
}

// Begin writes the headers. origin is the start of the run's window, CLOCK_MONOTONIC.
func (o *Output) Begin(origin int64, headers ...result.Header) error {
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

// Event takes an event, whose instant is CLOCK_MONOTONIC.
func (o *Output) Event(e result.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.events.add(e, o.write)
	}
}

// write writes an event, or keeps it until the headers are written. The lock is held.
func (o *Output) write(e result.Event) {
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

// Interval writes an interval of a workload, whose instants count from the start of the run's window.
func (o *Output) Interval(v result.Interval) error {
	if b := v.ReadBack; b != nil { // likewise, in errors
		b.Why = secret.Conceal(b.Why, o.secrets)
		for i := range b.Places {
			p := &b.Places[i]
			p.Error, p.NoReplicas = secret.Conceal(p.Error, o.secrets), secret.Conceal(p.NoReplicas, o.secrets)
			for j := range p.Replicas {
				p.Replicas[j].Error = secret.Conceal(p.Replicas[j].Error, o.secrets)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err, o.filled = o.writer.Interval(v), true
	}
	return o.err
}

// End reads back what was written, has its parts summarised, and closes the file. The error is the first
// of a write, or that of reading back.
func (o *Output) End(summarise func(part *result.Run) result.Summary) (*result.Run, error) {
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

// Discard closes the file of a run that failed; after End it does nothing. A file without an interval is
// removed: nothing was measured.
func (o *Output) Discard() {
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
