package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"sixnines/internal/fleet/wire"
)

func TestRecordsAreInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	s, err := newSpool(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newSpool(path); !os.IsExist(err) {
		t.Errorf("a file that is there is taken: %v", err)
	}
	records := [][]byte{nil, []byte("one"), bytes.Repeat([]byte("x"), 1<<20), []byte("three")}
	for i, r := range records {
		if n, err := s.append(r); err != nil || n != i+1 {
			t.Fatal(n, err)
		}
	}
	if _, err := s.append(make([]byte, wire.MaxRecord+1)); err == nil {
		t.Error("a record that is too long is kept")
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.append(nil); err == nil {
		t.Error("a record comes after the last one")
	}
	var buf []byte
	for i, r := range records {
		got, err := s.read(i, buf)
		if err != nil || !bytes.Equal(got, r) {
			t.Errorf("record %d: %d bytes, %v", i, len(got), err)
		}
		buf = got
	}
	if _, err := s.file.WriteAt([]byte("?"), s.ends[0]+spoolHead); err != nil {
		t.Fatal(err)
	}
	if _, err := s.read(1, nil); err == nil {
		t.Error("a damaged record is read")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
