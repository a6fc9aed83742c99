// Package parquet writes flat tables as Apache Parquet, which notebooks and databases read.
//
// It writes what a flat table needs: plain values, nulls, pages compressed by gzip, and one row
// group for each million rows. The format is that of parquet-format 2.9: its README and
// src/main/thrift/parquet.thrift, whose structures are written in Thrift's compact protocol.
// github.com/parquet-go/parquet-go 0.32 was tried (November 2026): it adds 36 packages to the
// command, and a program of nothing else takes 22 seconds of processor time to build.
package parquet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Kind is the type of a column.
type Kind int

// The kinds of columns.
const (
	String    Kind = iota // UTF-8
	Int64                 // signed
	Double                // NaN is written as null
	Timestamp             // µs since 1970, UTC
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// groupRows is the number of rows of a row group.
const groupRows = 1 << 20

// Numbers of the format.
const (
	typeInt64, typeDouble, typeByteArray = 2, 5, 6
	required, optional                   = 0, 1
	encodingPlain, encodingRLE           = 0, 3
	codecGzip                            = 2
	convertedUTF8, convertedMicros       = 0, 10
	magic                                = "PAR1"
)

// Writer writes a table. It is not safe for concurrent use. After an error it writes nothing more.
type Writer struct {
	to      io.Writer
	at      int64
	err     error
	columns []*column
	rows    int // of the row group under way
	all     int64
	groups  []group
}

// column is the values of a row group that is not written yet.
type column struct {
	Column
	values bytes.Buffer
	known  []bool // of Double: whether a row has a value
}

// group is a row group that is written.
type group struct {
	rows   int
	chunks []chunk
}

// chunk is a column of it.
type chunk struct{ offset, plain, packed int64 }

// NewWriter begins a table.
func NewWriter(to io.Writer, columns ...Column) *Writer {
	w := &Writer{to: to}
	for _, c := range columns {
		w.columns = append(w.columns, &column{Column: c})
	}
	w.write([]byte(magic))
	return w
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		var n int
		n, w.err = w.to.Write(b)
		w.at += int64(n)
	}
}

// Row adds a row: for each column a string, an int64 or a float64, as its kind says.
func (w *Writer) Row(values ...any) error {
	if len(values) != len(w.columns) {
		return fmt.Errorf("parquet: a row of %d values in a table of %d columns", len(values), len(w.columns))
	}
	for i, c := range w.columns {
		if err := c.add(values[i]); err != nil {
			w.err = cmp.Or(w.err, err) // the columns are of different lengths now
			return err
		}
	}
	if w.rows++; w.rows == groupRows {
		w.flush()
	}
	return w.err
}

// add adds a value.
func (c *column) add(value any) error {
	var b [8]byte
	switch v := value.(type) {
	case string:
		if c.Kind == String {
			binary.LittleEndian.PutUint32(b[:4], uint32(len(v)))
			c.values.Write(b[:4])
			c.values.WriteString(v)
			return nil
		}
	case int64:
		if c.Kind == Int64 || c.Kind == Timestamp {
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			c.values.Write(b[:])
			return nil
		}
	case float64:
		if c.Kind == Double {
			c.known = append(c.known, !math.IsNaN(v))
			if !math.IsNaN(v) {
				binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
				c.values.Write(b[:])
			}
			return nil
		}
	}
	return fmt.Errorf("parquet: column %s does not take %T", c.Name, value)
}

// flush writes the row group under way.
func (w *Writer) flush() {
	if w.rows == 0 {
		return
	}
	g := group{rows: w.rows}
	for _, c := range w.columns {
		body := append(levels(c.known), c.values.Bytes()...)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(body) // a buffer takes all
		_ = z.Close()
		var page thrift
		page.i32(1, 0) // a data page
		page.i32(2, len(body))
		page.i32(3, packed.Len())
		page.begin(5)
		page.i32(1, w.rows)
		page.i32(2, encodingPlain)
		page.i32(3, encodingRLE)
		page.i32(4, encodingRLE)
		page.end()
		page.stop()
		at := w.at
		w.write(page.b)
		w.write(packed.Bytes())
		head := int64(len(page.b))
		g.chunks = append(g.chunks, chunk{at, head + int64(len(body)), head + int64(packed.Len())})
		c.values.Reset()
		c.known = c.known[:0]
	}
	w.groups = append(w.groups, g)
	w.all += int64(w.rows)
	w.rows = 0
}

// levels are the definition levels of a column that may have nulls, in the hybrid encoding with one bit
// each: all of them bit-packed. Empty: it has none.
func levels(known []bool) []byte {
	if len(known) == 0 {
		return nil
	}
	eights := (len(known) + 7) / 8
	body := binary.AppendUvarint(nil, uint64(eights)<<1|1)
	bits := make([]byte, eights)
	for i, k := range known {
		if k {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	body = append(body, bits...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// Close writes the rest and the description of the table. It does not close what it writes to.
func (w *Writer) Close() error {
	w.flush()
	var f thrift
	f.i32(1, 2) // the version of the format
	f.list(2, kindStruct, len(w.columns)+1)
	f.element()
	f.text(4, "schema")
	f.i32(5, len(w.columns))
	f.end()
	for _, c := range w.columns {
		f.element()
		c.describe(&f)
		f.end()
	}
	f.i64(3, w.all)
	f.list(4, kindStruct, len(w.groups))
	for _, g := range w.groups {
		f.element()
		w.describe(&f, g)
		f.end()
	}
	f.text(6, "sixnines")
	f.stop()
	w.write(f.b)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(f.b))))
	w.write([]byte(magic))
	return w.err
}

// physical is how values of a kind are stored.
func (k Kind) physical() int {
	switch k {
	case String:
		return typeByteArray
	case Double:
		return typeDouble
	}
	return typeInt64
}

// describe writes the fields of a SchemaElement.
func (c *column) describe(f *thrift) {
	f.i32(1, c.Kind.physical())
	repetition := required
	if c.Kind == Double {
		repetition = optional
	}
	f.i32(3, repetition)
	f.text(4, c.Name)
	switch c.Kind {
	case String:
		f.i32(6, convertedUTF8)
		f.begin(10)
		f.begin(1) // LogicalType.STRING
		f.end()
		f.end()
	case Timestamp:
		f.i32(6, convertedMicros)
		f.begin(10)
		f.begin(8) // LogicalType.TIMESTAMP
		f.yes(1)   // in UTC
		f.begin(2)
		f.begin(2) // TimeUnit.MICROS
		f.end()
		f.end()
		f.end()
		f.end()
	}
}

// describe writes the fields of a RowGroup.
func (w *Writer) describe(f *thrift, g group) {
	f.list(1, kindStruct, len(g.chunks))
	total := int64(0)
	for i, c := range g.chunks {
		total += c.plain
		f.element()
		f.i64(2, c.offset)
		f.begin(3)
		f.i32(1, w.columns[i].Kind.physical())
		f.list(2, kindI32, 2)
		f.number(encodingPlain)
		f.number(encodingRLE)
		f.list(3, kindBinary, 1)
		f.string(w.columns[i].Name)
		f.i32(4, codecGzip)
		f.i64(5, int64(g.rows))
		f.i64(6, c.plain)
		f.i64(7, c.packed)
		f.i64(9, c.offset)
		f.end()
		f.end()
	}
	f.i64(2, total)
	f.i64(3, int64(g.rows))
}
