package engine

import (
	"sync"

	"sixnines/result"
)

// output is where records go: to the file, if there is one, and into the Run
// that is returned. Events that come before the header wait for it.
type output struct {
	mu      sync.Mutex
	writer  *result.Writer // nil: no file
	run     *result.Run
	origin  int64 // CLOCK_MONOTONIC of the window's start; records are relative to it
	begun   bool
	ended   bool
	waiting []result.Event
	err     error
}

func newOutput(path string) (*output, error) {
	o := &output{run: &result.Run{Path: path, Metrics: map[result.Metric]*result.Merged{}}}
	if path != "" {
		w, err := result.Create(path)
		if err != nil {
			return nil, err
		}
		o.writer = w
	}
	return o, nil
}

func (o *output) begin(h result.Header, origin int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.origin, o.begun = origin, true
	if o.writer != nil {
		if err := o.writer.Header(h); err != nil {
			return err
		}
	}
	if err := o.run.Add(result.Record{Header: &h}); err != nil {
		return err
	}
	for _, e := range o.waiting {
		o.write(e)
	}
	o.waiting = nil
	return o.err
}

// event takes an event with an absolute instant. It is safe for concurrent use.
func (o *output) event(e result.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
	case !o.begun:
		o.waiting = append(o.waiting, e)
	default:
		o.write(e)
	}
}

func (o *output) write(e result.Event) {
	e.At -= o.origin
	e.Type = "event"
	if o.writer != nil && o.err == nil {
		o.err = o.writer.Event(e)
	}
	if o.err == nil {
		o.err = o.run.Add(result.Record{Event: &e})
	}
}

func (o *output) interval(v result.Interval) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	v.Type = "interval"
	if o.writer != nil {
		if o.err = o.writer.Interval(v); o.err != nil {
			return o.err
		}
	}
	o.err = o.run.Add(result.Record{Interval: &v})
	return o.err
}

// end writes the summary and closes the file.
func (o *output) end(s result.Summary) (*result.Run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.err != nil {
		return nil, o.err
	}
	s.Type = "summary"
	if o.writer != nil {
		if err := o.writer.Summary(s); err != nil {
			return nil, err
		}
		if err := o.writer.Close(); err != nil {
			return nil, err
		}
	}
	return o.run, o.run.Add(result.Record{Summary: &s})
}

// discard closes the file of a run that failed. A file without a header is
// removed: nothing was measured.
func (o *output) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.writer == nil {
		return
	}
	_ = o.writer.Close() // the run's own error is the one to tell
	if !o.begun {
		removeFile(o.run.Path)
	}
}
