package result

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
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
		if got := getRow(b); got != r {
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

func rawBytes(t testing.TB, rows ...RawRow) []byte {
	t.Helper()
	b, err := RawHeader{Run: "0123456789abcdef", Closed: true}.MarshalBinary()
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
			if row.Kind == RawEmpty || row.Kind >= rawKinds || n > (len(b)-RawHeaderSize)/RawRowSize {
				t.Fatalf("row %d: %+v of %d bytes", n, row, len(b))
			}
		}
	})
}

func BenchmarkPutRow(b *testing.B) {
	buf := make([]byte, 1024*RawRowSize)
	r := RawRow{Kind: RawSent, Stream: 5, Seq: 1, Intended: 2, Sent: 3, Instant: 4}
	for i := 0; b.Loop(); i++ {
		at := i % 1024 * RawRowSize
		PutRow(buf[at:at+RawRowSize], r)
	}
}
