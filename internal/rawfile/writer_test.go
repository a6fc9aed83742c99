package rawfile

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sixnines/result"
)

func readRaw(t *testing.T, path string) (result.RawHeader, map[result.RawRow]int, string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := result.NewRawReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[result.RawRow]int{}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return r.Header(), rows, r.Damage()
		}
		if err != nil {
			t.Fatal(err)
		}
		rows[row]++
	}
}

func TestRawFileHoldsEveryRowOfEveryShard(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "raw")
		const shards, each = 5, 3*BlockRows + 17
		w, err := Create(path, result.RawHeader{Run: "0123456789abcdef", Base: 42}, shards*4*BlockRows)
		if err != nil {
			t.Fatal(err)
		}
		if !mapped { // as where files cannot be mapped
			if err := unmapFile(w.memory); err != nil {
				t.Fatal(err)
			}
			w.memory = nil
		}
		var wg sync.WaitGroup
		for i := range shards {
			wg.Go(func() {
				s := w.Shard()
				for n := range each {
					s.Put(result.RawRow{Kind: result.RawSent, Stream: uint32(i), Seq: int64(n)})
				}
				s.Close()
			})
		}
		wg.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		h, rows, damage := readRaw(t, path)
		if h != (result.RawHeader{Run: "0123456789abcdef", Base: 42, Closed: true}) || damage != "" {
			t.Errorf("header %+v, damage %q", h, damage)
		}
		if len(rows) != shards*each {
			t.Errorf("mapped %v: %d different rows, want %d", mapped, len(rows), shards*each)
		}
		for r, n := range rows {
			if n != 1 {
				t.Fatalf("row %+v is there %d times", r, n)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(result.RawHeaderSize + shards*4*blockSize); info.Size() != want {
			t.Errorf("the file has %d bytes, want %d", info.Size(), want)
		}
	}
}

func TestRowsWithoutRoomAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw")
	w, err := Create(path, result.RawHeader{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Shard(), w.Shard()
	for range BlockRows + 5 {
		a.Put(result.RawRow{Kind: result.RawAcked})
	}
	b.Put(result.RawRow{Kind: result.RawAcked})
	if w.Dropped() != 6 {
		t.Errorf("%d dropped, want 6", w.Dropped())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if h, rows, _ := readRaw(t, path); h.Dropped != 6 || rows[result.RawRow{Kind: result.RawAcked}] != BlockRows {
		t.Errorf("%d dropped, %v", h.Dropped, rows)
	}
	if err := w.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestRawFileOfAKilledRunIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw")
	w, err := Create(path, result.RawHeader{Run: "r"}, 10*BlockRows)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.memory == nil {
		t.Skip("files are not mapped here")
	}
	s := w.Shard()
	s.Put(result.RawRow{Kind: result.RawReplied, Seq: 5})
	h, rows, _ := readRaw(t, path) // while nothing was closed
	if h.Closed || rows[result.RawRow{Kind: result.RawReplied, Seq: 5}] != 1 || len(rows) != 1 {
		t.Errorf("header %+v, rows %v", h, rows)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(filepath.Join(dir, "a"), result.RawHeader{Run: strings.Repeat("x", 17)}, 1); err == nil {
		t.Error("a run id of 17 characters was taken")
	}
	for _, rows := range []int64{-1, math.MaxInt64 - BlockRows} {
		if _, err := Create(filepath.Join(dir, "b"), result.RawHeader{}, rows); err == nil {
			t.Errorf("%d rows were reserved", rows)
		}
	}
	path := filepath.Join(dir, "c")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, result.RawHeader{}, 1); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
}

func BenchmarkShardPut(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "raw"), result.RawHeader{}, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	s := w.Shard()
	r := result.RawRow{Kind: result.RawSent, Stream: 5, Seq: 1, Intended: 2, Sent: 3, Instant: 4}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n == 1<<20 { // over and over in the same file, page faults in the first round only
			w.next.Store(0)
			n = 0
		}
		s.Put(r)
	}
	b.StopTimer()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
