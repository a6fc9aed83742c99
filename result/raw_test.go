package result

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestRowsSurviveEncoding(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := []RawRow{
		{},
		{Kind: RawCorrupted, Stream: 1<<24 - 1, Party: math.MaxUint32, Seq: math.MaxInt64, Intended: math.MinInt64, Sent: -1, Instant: math.MaxInt64},
	}
	for range 1000 {
		rows = append(rows, RawRow{RawKind(rng.IntN(7)), rng.Uint32N(1 << 24), rng.Uint32(), rng.Int64(), -rng.Int64(), rng.Int64(), rng.Int64()})
	}
	b := make([]byte, RawRowSize)
	for _, r := range rows {
		PutRow(b, r)
		if got := GetRow(b); got != r {
			t.Fatalf("%+v became %+v", r, got)
		}
	}
}

// The bytes of a row are part of the format.
func TestRowLayout(t *testing.T) {
	b := make([]byte, RawRowSize)
	PutRow(b, RawRow{RawReceived, 0x030201, 0x07060504, 0x08, 0x10, 0x18, 0x20})
	want := make([]byte, RawRowSize)
	copy(want, []byte{3, 1, 2, 3, 4, 5, 6, 7, 8})
	want[16], want[24], want[32] = 0x10, 0x18, 0x20
	if !bytes.Equal(b, want) {
		t.Errorf("% x, want % x", b, want)
	}
}

func readRaw(t *testing.T, path string) (RawHeader, map[RawRow]int, string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewRawReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[RawRow]int{}
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
		const shards, each = 5, 3*RawBlockRows + 17
		w, err := CreateRaw(path, RawHeader{Run: "0123456789abcdef", Base: 42}, shards*4*RawBlockRows)
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
					s.Put(RawRow{Kind: RawSent, Stream: uint32(i), Seq: int64(n)})
				}
				s.Close()
			})
		}
		wg.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		h, rows, damage := readRaw(t, path)
		if h != (RawHeader{Run: "0123456789abcdef", Base: 42, Closed: true}) || damage != "" {
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
		if want := int64(rawHeaderSize + shards*4*rawBlockSize); info.Size() != want {
			t.Errorf("the file has %d bytes, want %d", info.Size(), want)
		}
	}
}

func TestRowsWithoutRoomAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw")
	w, err := CreateRaw(path, RawHeader{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Shard(), w.Shard()
	for range RawBlockRows + 5 {
		a.Put(RawRow{Kind: RawAcked})
	}
	b.Put(RawRow{Kind: RawAcked})
	if w.Dropped() != 6 {
		t.Errorf("%d dropped, want 6", w.Dropped())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if h, rows, _ := readRaw(t, path); h.Dropped != 6 || rows[RawRow{Kind: RawAcked}] != RawBlockRows {
		t.Errorf("%d dropped, %v", h.Dropped, rows)
	}
	if err := w.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestRawFileOfAKilledRunIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw")
	w, err := CreateRaw(path, RawHeader{Run: "r"}, 10*RawBlockRows)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.memory == nil {
		t.Skip("files are not mapped here")
	}
	s := w.Shard()
	s.Put(RawRow{Kind: RawReplied, Seq: 5})
	h, rows, _ := readRaw(t, path) // while nothing was closed
	if h.Closed || rows[RawRow{Kind: RawReplied, Seq: 5}] != 1 || len(rows) != 1 {
		t.Errorf("header %+v, rows %v", h, rows)
	}
}

func TestCreateRawRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := CreateRaw(filepath.Join(dir, "a"), RawHeader{Run: strings.Repeat("x", 17)}, 1); err == nil {
		t.Error("a run id of 17 characters was taken")
	}
	for _, rows := range []int64{-1, math.MaxInt64 - RawBlockRows} {
		if _, err := CreateRaw(filepath.Join(dir, "b"), RawHeader{}, rows); err == nil {
			t.Errorf("%d rows were reserved", rows)
		}
	}
	path := filepath.Join(dir, "c")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateRaw(path, RawHeader{}, 1); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
}

func rawBytes(t testing.TB, rows ...RawRow) []byte {
	t.Helper()
	b, err := RawHeader{Run: "0123456789abcdef", Closed: true}.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		row := make([]byte, RawRowSize)
		PutRow(row, r)
		b = append(b, row...)
	}
	return b
}

func TestRawReaderRefuses(t *testing.T) {
	change := func(at int, v byte) []byte {
		b := rawBytes(t)
		b[at] = v
		return b
	}
	tests := []struct {
		name  string
		input []byte
		want  string
	}{
		{"nothing", nil, "too short"},
		{"half a header", rawBytes(t)[:40], "too short"},
		{"another magic", change(0, 'X'), "does not begin"},
		{"another version", change(8, 2), "version 2"},
		{"another row size", change(12, 48), "48 bytes"},
		{"a flipped bit", change(32, 1), "checksum"},
		{"a wrong kind", rawBytes(t, RawRow{Kind: 9}), "row 1 is of kind 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewRawReader(bytes.NewReader(tt.input))
			if err == nil {
				_, err = r.Next()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, ErrFormat) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRawReaderTellsOfACutRow(t *testing.T) {
	b := rawBytes(t, RawRow{Kind: RawSent}, RawRow{}, RawRow{Kind: RawAcked})
	r, err := NewRawReader(bytes.NewReader(b[:len(b)-1]))
	if err != nil {
		t.Fatal(err)
	}
	if row, err := r.Next(); err != nil || row.Kind != RawSent {
		t.Fatal(row, err)
	}
	if _, err := r.Next(); err != io.EOF || !strings.Contains(r.Damage(), "row 3 is cut off after 39 bytes") {
		t.Errorf("%v, damage %q", err, r.Damage())
	}
}

// FuzzRawReader: whatever the input, the reader ends without a panic and
// yields no more rows than fit.
func FuzzRawReader(f *testing.F) {
	f.Add(rawBytes(f, RawRow{Kind: RawSent}, RawRow{Kind: RawReceived, Party: 3}))
	f.Add(rawBytes(f)[:10])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewRawReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		for n := 1; ; n++ {
			row, err := r.Next()
			if err != nil {
				return
			}
			if row.Kind == RawEmpty || row.Kind >= rawKinds || n > (len(b)-rawHeaderSize)/RawRowSize {
				t.Fatalf("row %d: %+v of %d bytes", n, row, len(b))
			}
		}
	})
}

func BenchmarkPutRow(b *testing.B) {
	buf := make([]byte, rawBlockSize)
	r := RawRow{Kind: RawSent, Stream: 5, Seq: 1, Intended: 2, Sent: 3, Instant: 4}
	for i := 0; b.Loop(); i++ {
		at := i % RawBlockRows * RawRowSize
		PutRow(buf[at:at+RawRowSize], r)
	}
}

func BenchmarkShardPut(b *testing.B) {
	w, err := CreateRaw(filepath.Join(b.TempDir(), "raw"), RawHeader{}, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	s := w.Shard()
	r := RawRow{Kind: RawSent, Stream: 5, Seq: 1, Intended: 2, Sent: 3, Instant: 4}
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
