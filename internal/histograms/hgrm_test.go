package histograms

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hgrmCases are all golden .hgrm files: those of the histograms themselves, in
// milliseconds at Java's default of five ticks, and variations on one of them.
func hgrmCases(t testing.TB) map[string]func() (h *hdrhistogram.Histogram, scale float64, ticks int) {
	cases := map[string]func() (*hdrhistogram.Histogram, float64, int){}
	for _, g := range hdrReadGolden(t) {
		cases[g.name] = func() (*hdrhistogram.Histogram, float64, int) { return g.histogram(t), 1e6, 5 }
		if g.name != "lognormal" {
			continue
		}
		for name, v := range map[string]struct {
			scale float64
			ticks int
		}{
			"ticks1": {1e6, 1}, "ticks2": {1e6, 2}, "ticks3": {1e6, 3}, "ticks7": {1e6, 7}, "ticks10": {1e6, 10},
			"ticks100": {1e6, 100}, "nanoseconds": {1, 5}, "thirds": {3, 5},
		} {
			cases[name] = func() (*hdrhistogram.Histogram, float64, int) { return g.histogram(t), v.scale, v.ticks }
		}
	}
	return cases
}

func TestWriteHgrmIsJavas(t *testing.T) {
	cases := hgrmCases(t)
	files, err := filepath.Glob(filepath.Join(hdrGoldenDir, "*.hgrm"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(cases) {
		t.Errorf("%d golden files for %d cases", len(files), len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h, scale, ticks := c()
			var got bytes.Buffer
			if err := WriteHgrm(&got, h, scale, ticks); err != nil {
				t.Fatal(err)
			}
			want := hdrReadFile(t, filepath.Join(hdrGoldenDir, name+".hgrm"))
			if bytes.Equal(got.Bytes(), want) {
				return
			}
			g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
			for i := range min(len(g), len(w)) {
				if g[i] != w[i] {
					t.Fatalf("line %d:\n%q, want\n%q", i+1, g[i], w[i])
				}
			}
			t.Fatalf("%d lines, want %d", len(g), len(w))
		})
	}
}

// TestWriteHgrmOfTooMany has counts so large that levels reach 100 by rounding,
// where Java fails.
func TestWriteHgrmOfTooMany(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 3)
	for v, n := range map[int64]int64{1: math.MaxInt64 - 100, 2: 50, 3: 1} {
		if err := h.RecordValues(v, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, ticks := range []int{1, 5, 7, hgrmMaxTicks} {
		var b bytes.Buffer
		if err := WriteHgrm(&b, h, 1, ticks); err != nil {
			t.Fatal(err)
		}
		rows, _, _ := strings.Cut(b.String(), "\n#")
		last := strings.Fields(rows[strings.LastIndex(rows, "\n")+1:])
		if want := []string{"3.000", "1.000000000000", strconv.FormatInt(h.TotalCount(), 10)}; !slices.Equal(last, want) {
			t.Errorf("%d ticks: last row %q, want %q", ticks, last, want)
		}
	}
}

func TestWriteHgrmRefuses(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 3)
	for _, scale := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := WriteHgrm(&bytes.Buffer{}, h, scale, 5); err == nil {
			t.Errorf("accepted a unit scale of %v", scale)
		}
	}
	for _, ticks := range []int{0, -1, hgrmMaxTicks + 1} {
		if err := WriteHgrm(&bytes.Buffer{}, h, 1, ticks); err == nil {
			t.Errorf("accepted %d ticks", ticks)
		}
	}
	broken := errors.New("disk full")
	if err := WriteHgrm(hdrFailingWriter{broken}, h, 1, 5); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type hdrFailingWriter struct{ err error }

func (w hdrFailingWriter) Write([]byte) (int, error) { return 0, w.err }
