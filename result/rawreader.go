package result

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// RawReader streams the rows of a raw file. It is not safe for concurrent use.
type RawReader struct {
	source *bufio.Reader
	header RawHeader
	damage string
	n      int64 // rows read, empty ones too
	row    [RawRowSize]byte
	err    error
}

// NewRawReader reads the header. Its error wraps [ErrFormat] if r is not a raw file that
// this version can read.
func NewRawReader(r io.Reader) (*RawReader, error) {
	x := &RawReader{source: bufio.NewReaderSize(r, 256<<10)}
	var b [RawHeaderSize]byte
	if _, err := io.ReadFull(x.source, b[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the file is too short for a raw file: %w", ErrFormat)
		}
		return nil, fmt.Errorf("read raw file: %w", err)
	}
	var err error
	if x.header, err = decodeRawHeader(b[:]); err != nil {
		return nil, err
	}
	return x, nil
}

// Header returns the file's header.
func (x *RawReader) Header() RawHeader { return x.header }

// Damage describes a row that is cut off at the end of the file; "" if the last row is whole.
func (x *RawReader) Damage() string { return x.damage }

// Next returns the next row that was written, skipping empty ones; io.EOF at
// the end. Rows are in no particular order. A row of an unknown kind is an
// error. After an error Next returns it again.
func (x *RawReader) Next() (RawRow, error) {
	if x.err != nil {
		return RawRow{}, x.err
	}
	row, err := x.next()
	x.err = err
	return row, err
}

func (x *RawReader) next() (RawRow, error) {
	for {
		n, err := io.ReadFull(x.source, x.row[:])
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			x.damage = fmt.Sprintf("row %d is cut off after %d bytes", x.n+1, n)
			return RawRow{}, io.EOF
		case errors.Is(err, io.EOF):
			return RawRow{}, io.EOF
		case err != nil:
			return RawRow{}, fmt.Errorf("read raw row %d: %w", x.n+1, err)
		}
		x.n++
		r := getRow(x.row[:])
		if r.Kind >= rawKinds {
			return RawRow{}, fmt.Errorf("raw row %d is of %s: %w", x.n, r.Kind, ErrFormat)
		}
		if r.Kind != RawEmpty {
			return r, nil
		}
	}
}
