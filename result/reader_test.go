package result

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

const headerLine = `{"type":"header","format":"sixnines-result","version":1,"id":"0123456789abcdef"}` + "\n"

// readAll reads to the end and returns the records, the damage and the error.
func readAll(r io.Reader) (records []Record, damage string, err error) {
	reader := NewReader(r)
	for {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return records, reader.Damage(), nil
		}
		if err != nil {
			return records, reader.Damage(), err
		}
		records = append(records, record)
	}
}

func TestReader(t *testing.T) {
	interval := `{"type":"interval","phase":"measure","start":0,"end":1000000000}` + "\n"
	tests := []struct {
		name, input string
		records     int
		damage, err string // parts of the texts; empty: none
	}{
		{"a header alone", headerLine, 1, "", ""},
		{"an unknown type is kept raw", headerLine + `{"type":"other","rain":true}` + "\n" + interval, 3, "", ""},
		{"unknown fields", headerLine + `{"type":"event","kind":"k","colour":"red"}` + "\n", 2, "", ""},
		{"empty lines", headerLine + "\n  \r\n" + interval, 2, "", ""},
		{"a missing last newline", headerLine + strings.TrimSpace(interval), 2, "", ""},
		{"a last line cut off", headerLine + interval + interval[:30], 2, "line 3 is cut off after 30 bytes", ""},
		{"zeros after a power failure", headerLine + interval + strings.Repeat("\x00", 100), 2, "line 3 is cut off", ""},
		{"garbage in the middle", headerLine + "garbage\n" + interval, 1, "", "line 2 is no record"},
		{"a number", headerLine + "17\n", 1, "", "line 2 is no record"},
		{"null", headerLine + "null\n", 1, "", `line 2 has no "type"`},
		{"no type", headerLine + "{}\n", 1, "", `line 2 has no "type"`},
		{"a field of a wrong type", headerLine + `{"type":"interval","start":"soon"}` + "\n", 1, "", "line 2 is no interval"},
		{"two files in one", headerLine + headerLine, 1, "", "second header"},
		{"nothing", "", 0, "", "empty"},
		{"only blanks", "\n\n", 0, "", "empty"},
		{"no header", interval, 0, "", "no header"},
		{"text", "Hello\n", 0, "", "no header"},
		{"a header cut off", headerLine[:40], 0, "", "no header"},
		{"another format", `{"type":"header","format":"other","version":1}` + "\n", 0, "", `format "other"`},
		{"no version", `{"type":"header","format":"sixnines-result"}` + "\n", 0, "", "no valid version"},
		{"version of a wrong type", `{"type":"header","format":"sixnines-result","version":"one"}` + "\n", 0, "", "unreadable"},
		{"a newer version with other types", `{"type":"header","format":"sixnines-result","version":3,"id":7,"tool":{"name":"sixnines","version":"3.1.0"}}` + "\n",
			0, "", "format version 3, written by sixnines 3.1.0; this sixnines reads up to version 2"},
		{"a newer version with another tool", `{"type":"header","format":"sixnines-result","version":3,"tool":"x"}` + "\n", 0, "", "written by a newer sixnines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			records, damage, err := readAll(strings.NewReader(tt.input))
			if len(records) != tt.records {
				t.Errorf("%d records, want %d", len(records), tt.records)
			}
			if !strings.Contains(damage, tt.damage) || (tt.damage == "") != (damage == "") {
				t.Errorf("damage %q, want %q", damage, tt.damage)
			}
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case tt.err != "" && err == nil:
				t.Errorf("no error, want %q", tt.err)
			case tt.err != "" && (!strings.Contains(err.Error(), tt.err) || !errors.Is(err, ErrFormat)):
				t.Errorf("error %q, want %q and ErrFormat", err, tt.err)
			}
		})
	}
}

func TestRecordKeepsTheWholeLine(t *testing.T) {
	line := `{"type":"event","kind":"k","colour":"red"}`
	records, _, err := readAll(strings.NewReader(headerLine + line + "\n" + `{"type":"other"}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if string(records[1].Raw) != line {
		t.Errorf("Raw is %s", records[1].Raw)
	}
	if r := records[2]; r.Header != nil || r.Interval != nil || r.Event != nil || r.Summary != nil || r.Raw == nil {
		t.Errorf("a record of an unknown type reads %+v", r)
	}
}

// endless yields one line that never ends.
type endless struct{ head io.Reader }

func (e endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestLinesAreBounded(t *testing.T) {
	_, _, err := readAll(endless{strings.NewReader(headerLine)})
	if err == nil || !strings.Contains(err.Error(), "line 2 is longer than") {
		t.Fatalf("an endless line: %v", err)
	}
}

func TestErrorsOfTheSourceAreNoDamage(t *testing.T) {
	broken := errors.New("broken disk")
	_, damage, err := readAll(io.MultiReader(strings.NewReader(headerLine+`{"type"`), failing{broken}))
	if !errors.Is(err, broken) || damage != "" {
		t.Fatalf("err %v, damage %q", err, damage)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReaderDecompresses(t *testing.T) {
	plain := headerLine + strings.Repeat(`{"type":"event","kind":"k"}`+"\n", 2000)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, plain)
	w.Close()
	records, damage, err := readAll(bytes.NewReader(z.Bytes()))
	if err != nil || damage != "" || len(records) != 2001 {
		t.Fatalf("%d records, damage %q, error %v", len(records), damage, err)
	}
	records, damage, err = readAll(bytes.NewReader(z.Bytes()[:z.Len()-9]))
	if err != nil || damage == "" || len(records) == 0 {
		t.Fatalf("cut off: %d records, damage %q, error %v", len(records), damage, err)
	}
}

// FuzzReader: whatever the input, the reader ends without a panic, and what it
// read is what Load reads.
func FuzzReader(f *testing.F) {
	f.Add([]byte(headerLine))
	f.Add([]byte(headerLine + `{"type":"interval","metrics":{"x":null}}` + "\n" + `{"type":`))
	f.Add([]byte(`{"type":"header","format":"sixnines-result","version":99}`))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	seedVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		reader := NewReader(bytes.NewReader(b))
		for n := 0; ; n++ {
			record, err := reader.Next()
			if err != nil {
				if _, again := reader.Next(); again != err {
					t.Fatalf("after %v came %v", err, again)
				}
				return
			}
			if (n == 0) != (record.Header != nil) {
				t.Fatalf("record %d: header %v", n, record.Header != nil)
			}
			if record.Raw == nil {
				t.Fatal("a record without its line")
			}
		}
	})
}

// seedVectors adds the frozen files to a fuzz corpus.
func seedVectors(f *testing.F) {
	for _, name := range vectorNames() {
		b, err := os.ReadFile(vectorPath(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}
