package histograms

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
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
		rows, err := ReadHgrm(&b)
		if err != nil {
			t.Fatal(err)
		}
		last := rows[len(rows)-1]
		if last.Quantile != 1 || last.Value != 3 || last.Count != h.TotalCount() {
			t.Errorf("%d ticks: last row %+v", ticks, last)
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

func TestReadHgrmReadsJava(t *testing.T) {
	for name, c := range hgrmCases(t) {
		t.Run(name, func(t *testing.T) {
			h, scale, _ := c()
			file := hdrReadFile(t, filepath.Join(hdrGoldenDir, name+".hgrm"))
			rows, err := ReadHgrm(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if want := bytes.Count(file, []byte("\n")) - 5; len(rows) != want {
				t.Fatalf("%d rows, want %d", len(rows), want)
			}
			if len(rows) == 0 {
				return
			}
			last := rows[len(rows)-1]
			x := NewRankIndex(h)
			if last.Quantile != 1 || last.Count != x.Count() ||
				math.Abs(last.Value*scale-float64(x.Max())) > scale { // a decimal at least
				t.Errorf("last row %+v of %d values up to %d", last, x.Count(), x.Max())
			}
		})
	}
}

func TestReadHgrmTolerates(t *testing.T) {
	const text = "\ufeff Value\tPercentile\tTotalCount\t1/(1-Percentile)\r\n\r\n" +
		"# a comment\r\n" +
		"0.5 0 1 1.00\r\n" +
		"\r\n" +
		"  2.5   0.5  3   2.00  \r\n" +
		"2.5 1.000000 4 inf\r\n" +
		"#[Mean    =  1.0, StdDeviation   = 1.0]"
	rows, err := ReadHgrm(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []HgrmRow{{0.5, 0, 1}, {2.5, 0.5, 3}, {2.5, 1, 4}}
	if len(rows) != len(want) {
		t.Fatalf("rows %+v, want %+v", rows, want)
	}
	for i := range want {
		if rows[i] != want[i] {
			t.Errorf("row %d is %+v, want %+v", i, rows[i], want[i])
		}
	}
}

func TestReadHgrmNamesTheLine(t *testing.T) {
	const head = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n1 0.1 5 1.11\n"
	for _, tt := range []struct{ name, line, want string }{
		{"too few fields", "1 0.5", "line 4: 2 fields"},
		{"too many fields", "1 0.5 6 2 9", "line 4: 5 fields"},
		{"value", "x 0.5 6 2", `line 4: value "x"`},
		{"value not finite", "inf 0.5 6 2", `line 4: value "inf"`},
		{"percentile", "1 x 6 2", `line 4: percentile "x"`},
		{"percentile out of range", "1 1.5 6 2", `line 4: percentile "1.5"`},
		{"percentile not a number", "1 nan 6 2", `line 4: percentile "nan"`},
		{"count", "1 0.5 6.5 2", `line 4: count "6.5"`},
		{"count negative", "1 0.5 -6 2", `line 4: count "-6"`},
		{"descending", "1 0.05 6 2", "line 4: value, percentile or count"},
		{"too long", strings.Repeat("9", hgrmMaxLine+1), "line 4: longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadHgrm(strings.NewReader(head + tt.line + "\n"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func FuzzReadHgrm(f *testing.F) {
	for _, name := range []string{"empty", "one", "gaps", "wide2"} {
		f.Add(hdrReadFile(f, filepath.Join(hdrGoldenDir, name+".hgrm")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := ReadHgrm(bytes.NewReader(b))
		if err != nil {
			return
		}
		for i, r := range rows {
			if !(r.Quantile >= 0 && r.Quantile <= 1) || math.IsNaN(r.Value) || r.Count < 0 ||
				i > 0 && r.Quantile < rows[i-1].Quantile {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
	})
}
