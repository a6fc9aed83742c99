// Package resultfile writes result files, which package result reads.
package resultfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"sixnines/internal/seal"
	"sixnines/result"
)

// maxLine is the length, in bytes, from which a line is too long to be read again: package result
// refuses longer ones.
const maxLine = 16 << 20

// The values of a record's "type".
const (
	typeHeader   = "header"
	typeInterval = "interval"
	typeEvent    = "event"
	typeSummary  = "summary"
)

// sealKey is the text before the seal in the line of a summary.
const sealKey = `,"seal":`

// sealRoom is an upper bound of the bytes that a seal adds to a line.
const sealRoom = 1 << 10

// Writer writes a result file, one record a line. It is safe for concurrent
// use, since events come from clients' goroutines.
//
// Every record reaches the operating system in one write call before the
// method returns, so that a run that is killed leaves a file readable up to
// its last record; only Close waits for the disk.
type Writer struct {
	mu     sync.Mutex      // guards all fields below
	file   *os.File        // nil after Close
	header bool            // a header is written
	open   map[string]bool // workloads that have a header and no summary yet; "" for an unnamed one
	ended  bool            // the last summary is written, or Close was called
	err    error           // the first failure; nothing is written after it
	lines  lines
	tally  *seal.Tally
}

// Create makes the result file at path, which must not exist: a result is never
// overwritten. It is written in place rather than renamed at the end, so that a
// killed run leaves the records that it had.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create result file: %w", err)
	}
	return &Writer{file: f, tally: seal.New(typeHeader, typeInterval, typeEvent, typeSummary)}, nil
}

// errOrder marks records that come out of order. Refusing them does not harm the
// file, so the writer does not fail for good: a client may report an event after the
// last summary.
var errOrder = errors.New("out of order")

// Header writes the first record, or one of the first: each of several named workloads
// has a header. Header fills in Type, Format, Version and Sealed.
func (w *Writer) Header(h result.Header) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.header && w.err == nil && (h.Workload == "" || w.open[""] || w.open[h.Workload]) {
		return fmt.Errorf("result: second header: %w", errOrder)
	}
	h.Type, h.Format, h.Version, h.Sealed = typeHeader, result.Format, result.Version, true
	if h.Workload != "" {
		h.Version = result.VersionWorkloads
	}
	if w.header = true; w.open == nil {
		w.open = map[string]bool{}
	}
	w.open[h.Workload] = true
	return w.write(typeHeader, h)
}

// Interval writes an interval, without vitals that are not finite (NaN, ±Inf): JSON
// cannot hold them, and they say no more than absent ones.
func (w *Writer) Interval(v result.Interval) error {
	v.Type = typeInterval
	v.Vitals = finite(v.Vitals)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.mayWrite(typeInterval); err != nil {
		return err
	}
	line, err := w.lines.interval(&v)
	return w.writeLine(typeInterval, line, err)
}

// Event writes an event.
func (w *Writer) Event(e result.Event) error {
	e.Type = typeEvent
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(typeEvent, e)
}

// Summary writes the last record of a workload, with its seal; nothing can be written after
// the last workload's summary.
func (w *Writer) Summary(s result.Summary) error {
	s.Type, s.Seal = typeSummary, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(typeSummary, s); err != nil {
		return err
	}
	delete(w.open, s.Workload)
	w.ended = len(w.open) == 0
	return nil
}

// Close waits until the file is on the disk and closes it. It returns the writer's
// first failure. Closing twice is allowed.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return w.err
	}
	for _, err := range []error{w.file.Sync(), w.file.Close()} {
		if err != nil && w.err == nil {
			w.err = fmt.Errorf("close result file: %w", err)
		}
	}
	w.file, w.ended = nil, true
	return w.err
}

func (w *Writer) write(kind string, record any) error {
	if err := w.mayWrite(kind); err != nil {
		return err
	}
	line, err := json.Marshal(record)
	return w.writeLine(kind, line, err)
}

// mayWrite returns why a record cannot be written now, or nil. The caller holds mu.
func (w *Writer) mayWrite(kind string) error {
	switch {
	case w.err != nil:
		return w.err
	case w.ended:
		return fmt.Errorf("result: %s after the end: %w", kind, errOrder)
	case !w.header:
		return fmt.Errorf("result: %s before the header: %w", kind, errOrder)
	}
	return nil
}

// writeLine writes the line of a record; err is the failure of encoding it. The caller holds mu.
func (w *Writer) writeLine(kind string, line []byte, err error) error {
	if err == nil && len(line) >= maxLine-sealRoom {
		err = fmt.Errorf("record of %d bytes is longer than %d", len(line), maxLine)
	}
	if err == nil {
		line, err = w.count(kind, line)
	}
	if err == nil {
		_, err = w.file.Write(line)
	}
	if err != nil {
		w.err = fmt.Errorf("write %s to result file: %w", kind, err)
	}
	return w.err
}

// count adds the line of a record to the tally, seals it if it is a summary, and returns it
// with its newline.
func (w *Writer) count(kind string, line []byte) ([]byte, error) {
	if kind == typeSummary {
		text := line[:len(line)-1] // without the closing brace
		w.tally.Bytes(text)
		sealed, err := json.Marshal(w.seal())
		if err != nil {
			return nil, err
		}
		rest := append(append([]byte(sealKey), sealed...), '}')
		w.tally.Bytes(rest)
		line = append(text, rest...)
		w.tally.Record(kind, line)
		w.tally.Bytes([]byte{'\n'})
		return append(line, '\n'), nil
	}
	w.tally.Record(kind, line)
	line = append(line, '\n')
	w.tally.Bytes(line)
	return line, nil
}

// seal returns the seal of the records and bytes so far.
func (w *Writer) seal() result.Seal {
	of := func(kind string) result.SealedLines {
		n, sum := w.tally.Lines(kind)
		return result.SealedLines{Lines: n, CRC32C: sum}
	}
	return result.Seal{SHA256: w.tally.SHA256(), Headers: of(typeHeader), Intervals: of(typeInterval), Events: of(typeEvent), Summaries: of(typeSummary)}
}

// finite returns m without values that JSON cannot hold; m itself if all are finite.
func finite(m map[result.Vital]float64) map[result.Vital]float64 {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	for _, v := range m {
		if !bad(v) {
			continue
		}
		kept := make(map[result.Vital]float64, len(m))
		for k, v := range m {
			if !bad(v) {
				kept[k] = v
			}
		}
		return kept
	}
	return m
}
