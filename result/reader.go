package result

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sixnines/internal/seal"
)

// The values of a record's "type".
const (
	typeHeader   = "header"
	typeInterval = "interval"
	typeEvent    = "event"
	typeSummary  = "summary"
)

// maxLine is the longest line, in bytes, that readers read; writers write none that long. One
// second of every metric takes some 0.1 MiB. A line can make a reader allocate
// some twenty times its length, so a much larger limit would help hostile files.
const maxLine = 16 << 20

// ErrFormat is wrapped by errors about input that is not a result file, or not one
// that this version can read.
var ErrFormat = errors.New("not a readable result file")

// ErrDamaged is wrapped by errors about a result file that was damaged after it was written: it begins
// with a header that this version reads, and has a line that it cannot read. Such errors wrap [ErrFormat] too.
var ErrDamaged = errors.New("damaged after it was written")

// Reader reads a result file record by record. Input that begins like a gzip
// file is decompressed. A Reader holds one line at a time, of maxLine bytes
// at most. It is not safe for concurrent use.
type Reader struct {
	source *bufio.Reader // as given
	lines  *bufio.Reader // decompressed; nil before the first read
	line   int
	header bool
	named  bool // the first header names a workload, so the file may have several
	damage string
	err    error
	tally  *seal.Tally
}

// NewReader returns a reader of r. It reads nothing yet.
func NewReader(r io.Reader) *Reader {
	return &Reader{source: bufio.NewReaderSize(r, 64<<10), tally: seal.New(typeHeader, typeInterval, typeEvent, typeSummary)}
}

// Next returns the next record; the first is always a header. It returns io.EOF at
// the end, and also for a last line that is cut off, which Damage then describes. A
// line in the middle that is not a record, or is too long, gives an error that names
// the line. After an error Next returns the same error again.
//
// Records of types that this version does not know have only Raw set.
func (r *Reader) Next() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	record, err := r.next()
	r.err = err
	return record, err
}

// Line returns the number of the line last read, from 1.
func (r *Reader) Line() int { return r.line }

// Damage describes what could not be read at the end of the input; "" if the input is
// complete.
func (r *Reader) Damage() string { return r.damage }

func (r *Reader) next() (Record, error) {
	for {
		line, whole, err := r.readLine()
		if err != nil {
			return Record{}, err
		}
		if len(line) == 0 && !whole {
			if !r.header {
				return Record{}, fmt.Errorf("the file is empty: %w", ErrFormat)
			}
			return Record{}, io.EOF
		}
		if len(bytes.TrimSpace(line)) == 0 {
			r.count("", line, whole)
			continue // skip empty lines
		}
		record, err := r.decode(line, whole)
		if err == nil {
			return record, nil
		}
		if whole || !r.header {
			return Record{}, err
		}
		// A killed writer may leave a line without its newline. (If the line decodes,
		// only the newline is missing: no proper prefix of an object is an object.)
		r.damage = fmt.Sprintf("line %d is cut off after %d bytes", r.line, len(line))
		return Record{}, io.EOF
	}
}

// readLine returns the next line and whether it ended in a newline.
func (r *Reader) readLine() (line []byte, whole bool, err error) {
	if r.lines == nil {
		if err := r.open(); err != nil {
			return nil, false, err
		}
	}
	if r.damage != "" {
		return nil, false, io.EOF
	}
	r.line++
	for {
		part, err := r.lines.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, false, fmt.Errorf("line %d is longer than %d MiB: %w", r.line, maxLine>>20, ErrFormat)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return line, false, nil
		case errors.Is(err, io.ErrUnexpectedEOF): // gzip cut off
			r.damage = "the compressed file is cut off"
			return line, false, nil
		default:
			return nil, false, fmt.Errorf("read line %d: %w", r.line, err)
		}
	}
}

func (r *Reader) open() error {
	r.lines = r.source
	magic, err := r.source.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read result file: %w", err)
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return nil
	}
	z, err := gzip.NewReader(r.source)
	if err != nil {
		return fmt.Errorf("read compressed result file: %w", err)
	}
	r.lines = bufio.NewReaderSize(z, 64<<10)
	return nil
}

// decode decodes a line into a record, and adds it to the tally.
func (r *Reader) decode(line []byte, whole bool) (Record, error) {
	var probe struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &probe); err != nil {
		if !r.header {
			return Record{}, fmt.Errorf("line %d is no header of a result (%v): %w", r.line, err, ErrFormat)
		}
		return Record{}, fmt.Errorf("line %d is no record (%v): %w", r.line, err, ErrFormat)
	}
	switch {
	case probe.Type == "" && r.header:
		return Record{}, fmt.Errorf(`line %d has no "type": %w`, r.line, ErrFormat)
	case probe.Type != typeHeader && !r.header:
		return Record{}, fmt.Errorf("line %d is no header of a result: %w", r.line, ErrFormat)
	case probe.Type == typeHeader && r.header && !r.named:
		return Record{}, fmt.Errorf("line %d is a second header, are these two files in one? %w", r.line, ErrFormat)
	}
	record := Record{Raw: line, Counted: r.count(probe.Type, line, whole)}
	var err error
	switch probe.Type {
	case typeHeader:
		if err := checkFormat(line); err != nil {
			return Record{}, err
		}
		r.header = true
		record.Header = new(Header)
		err = json.Unmarshal(line, record.Header)
		r.named = record.Header.Workload != ""
	case typeInterval:
		record.Interval = new(Interval)
		err = json.Unmarshal(line, record.Interval)
	case typeEvent:
		record.Event = new(Event)
		err = json.Unmarshal(line, record.Event)
	case typeSummary:
		record.Summary = new(Summary)
		err = json.Unmarshal(line, record.Summary)
	}
	if err != nil {
		return Record{}, fmt.Errorf("line %d is no %s (%v): %w", r.line, probe.Type, err, ErrFormat)
	}
	return record, nil
}

// checkFormat checks format and version before anything else is decoded, since other
// fields may have other types in another version.
func checkFormat(line []byte) error {
	var h struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("the header's format or version is unreadable (%v): %w", err, ErrFormat)
	}
	switch {
	case h.Format != Format:
		return fmt.Errorf("the header says format %q, not %q: %w", h.Format, Format, ErrFormat)
	case h.Version < 1:
		return fmt.Errorf("the header has no valid version (%d): %w", h.Version, ErrFormat)
	case h.Version > VersionWorkloads:
		return fmt.Errorf("the file has format version %d, written by %s; this sixnines reads up to version %d, use that one or a newer one: %w",
			h.Version, writtenBy(line), VersionWorkloads, ErrFormat)
	}
	return nil
}

// writtenBy names the program that wrote a header of whatever version.
func writtenBy(line []byte) string {
	var h struct {
		Tool struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"tool"`
	}
	if json.Unmarshal(line, &h) != nil || h.Tool.Version == "" {
		return "a newer sixnines"
	}
	return h.Tool.Name + " " + h.Tool.Version
}
