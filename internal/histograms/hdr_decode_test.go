package histograms

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hdrForge returns the text of a histogram with the given header and payload.
func hdrForge(t testing.TB, digits int32, lowest, highest int64, payload []byte) string {
	t.Helper()
	b := binary.BigEndian.AppendUint32(nil, 0x1c849313)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(digits))
	b = binary.BigEndian.AppendUint64(b, uint64(lowest))
	b = binary.BigEndian.AppendUint64(b, uint64(highest))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1))
	return hdrWrap(t, 0x1c849314, append(b, payload...))
}

func hdrWrap(t testing.TB, cookie uint32, inner []byte) string {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(inner); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := binary.BigEndian.AppendUint32(nil, cookie)
	b = binary.BigEndian.AppendUint32(b, uint32(z.Len()))
	return base64.StdEncoding.EncodeToString(append(b, z.Bytes()...))
}

func TestDecodeHistogramRefuses(t *testing.T) {
	good := hdrForge(t, 3, 1, 1000, []byte{2})
	if _, err := Decode(good); err != nil {
		t.Fatalf("the forgery that is to be varied: %v", err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "unexpected EOF"},
		{"cut in the header", good[:8], "unexpected EOF"},
		{"cut in the body", good[:len(good)/2/4*4], "EOF"},
		{"not base64", "HISTFAAAA!!!", "base64"},
		{"another cookie", hdrWrap(t, 0x0c72124f, nil), "cookie 0xc72124f"},
		{"version 1", hdrWrap(t, 0x1c849302, nil), "not that of a V2"},
		{"another inner cookie", hdrWrap(t, 0x1c849314, make([]byte, 40)), "inner cookie"},
		{"no inner header", hdrWrap(t, 0x1c849314, nil), "histogram header"},
		{"too many digits", hdrForge(t, 6, 1, 1000, nil), "significant digits"},
		{"negative digits", hdrForge(t, -1, 1, 1000, nil), "significant digits"},
		{"impossible lowest value", hdrForge(t, 5, 1<<60, math.MaxInt64, nil), "too large"},
		{"a geometry of 50 MB", hdrForge(t, 5, 1, math.MaxInt64, nil), "counters, at most"},
		{"more counts than counters", hdrForge(t, 1, 1, 10, bytes.Repeat([]byte{2}, 100)), "index"},
		{"a run of zeros beyond the end", hdrForge(t, 1, 1, 10, []byte{0xff, 0xff, 0xff, 0x7f}), "zero"},
		{"a total beyond int64", hdrForge(t, 1, 1, 10, bytes.Repeat(
			[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 3)), "MaxInt64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Decode(tt.text)
			if err == nil {
				t.Fatalf("accepted, with %d values", h.TotalCount())
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "decode histogram: ") {
				t.Errorf("error %q, want one about %q", err, tt.want)
			}
		})
	}
}

// TestDecodeHistogramBoundsMemory decodes forgeries that ask for much.
func TestDecodeHistogramBoundsMemory(t *testing.T) {
	wide := hdrForge(t, 5, 1, math.MaxInt64, make([]byte, 16<<20))
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if got := allocated(func() { Decode(wide) }); got > 4<<20 {
		t.Errorf("refusing a histogram of 16 MiB allocated %d bytes", got)
	}
	long := strings.Repeat("A", hdrMaxEncoded+4)
	if got := allocated(func() { Decode(long) }); got > 1<<20 {
		t.Errorf("refusing a text of %d bytes allocated %d bytes", len(long), got)
	}
}

func FuzzDecodeHistogram(f *testing.F) {
	for _, g := range hdrReadGolden(f) {
		f.Add([]byte(g.encoded), true)
		f.Add(hdrInflate(f, g.encoded)[4:], false)
	}
	f.Fuzz(func(t *testing.T, b []byte, outer bool) {
		text := string(b)
		if !outer { // mutate below the compression, where a checksum guards
			text = hdrWrap(t, 0x1c849314, b)
		}
		h, err := Decode(text)
		if err != nil {
			return
		}
		theirs, err := hdrhistogram.Decode([]byte(text))
		if err != nil || !theirs.Equals(h) || Layout(theirs) != Layout(h) || theirs.TotalCount() != h.TotalCount() {
			t.Fatalf("the library has another histogram, or %v", err)
		}
		x := NewRankIndex(h)
		if x.Count() != h.TotalCount() {
			t.Fatalf("index counts %d, histogram %d", x.Count(), h.TotalCount())
		}
		again, err := Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		h2, err := Decode(again)
		if err != nil {
			t.Fatalf("decoded, encoded and refused: %v", err)
		}
		if !h.Equals(h2) {
			t.Fatal("decoded, encoded and decoded to something else")
		}
	})
}
