package histograms

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const hdrGoldenDir = "testdata/hdr/golden"

// hdrGolden has Java's values for one histogram.
type hdrGolden struct {
	name                    string
	lowest, highest, digits int64
	total, max              int64
	mean, stddev            float64
	percentiles             [][2]string
	buckets                 [][3]int64 // low, high, count
	encoded                 string
}

func hdrReadGolden(t testing.TB) []hdrGolden {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(hdrGoldenDir, "*.b64"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("golden files: found %d, %v", len(paths), err)
	}
	var all []hdrGolden
	for _, p := range paths {
		g := hdrGolden{name: strings.TrimSuffix(filepath.Base(p), ".b64")}
		g.encoded = strings.TrimSpace(string(hdrReadFile(t, p)))
		for line := range strings.Lines(string(hdrReadFile(t, strings.TrimSuffix(p, ".b64")+".txt"))) {
			f := strings.Fields(line)
			ints := func(fields []string) []int64 {
				var v []int64
				for _, s := range fields {
					n, err := strconv.ParseInt(s, 10, 64)
					if err != nil {
						t.Fatalf("%s: %q: %v", g.name, line, err)
					}
					v = append(v, n)
				}
				return v
			}
			bits := func(s string) float64 {
				n, err := strconv.ParseUint(s, 16, 64)
				if err != nil {
					t.Fatalf("%s: %q: %v", g.name, line, err)
				}
				return math.Float64frombits(n)
			}
			switch f[0] {
			case "geometry":
				v := ints(f[1:])
				g.lowest, g.highest, g.digits = v[0], v[1], v[2]
			case "total":
				g.total = ints(f[1:])[0]
			case "max":
				g.max = ints(f[1:])[0]
			case "mean":
				g.mean = bits(f[1])
			case "stddev":
				g.stddev = bits(f[1])
			case "percentile":
				g.percentiles = append(g.percentiles, [2]string{f[1], f[2]})
			case "bucket":
				g.buckets = append(g.buckets, [3]int64(ints(f[1:])))
			default:
				t.Fatalf("%s: unknown line %q", g.name, line)
			}
		}
		all = append(all, g)
	}
	return all
}

func hdrReadFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// histogram rebuilds the histogram from Java's list of buckets, without any
// decoder.
func (g hdrGolden) histogram(t testing.TB) *hdrhistogram.Histogram {
	t.Helper()
	// Import, not New: New raises zero significant digits to one.
	h := hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: g.lowest, HighestTrackableValue: g.highest, SignificantFigures: g.digits,
	})
	for _, b := range g.buckets {
		if err := h.RecordValues(b[0], b[2]); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func hdrInflate(t testing.TB, encoded string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(raw)-8, int(binary.BigEndian.Uint32(raw[4:])); got != want {
		t.Fatalf("compressed length %d, header says %d", got, want)
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return append(raw[:4:4], b...)
}

func TestDecodeHistogramReadsJava(t *testing.T) {
	for _, g := range hdrReadGolden(t) {
		t.Run(g.name, func(t *testing.T) {
			h, err := Decode(g.encoded)
			if err != nil {
				t.Fatal(err)
			}
			if !h.Equals(g.histogram(t)) {
				t.Error("decoded counts differ from Java's list of buckets")
			}
			x := NewRankIndex(h)
			if len(x.low) != len(g.buckets) {
				t.Fatalf("%d buckets in use, want %d", len(x.low), len(g.buckets))
			}
			var sum int64
			for i, b := range g.buckets {
				sum += b[2]
				if x.low[i] != b[0] || x.high[i] != b[1] || x.cumulative[i] != sum {
					t.Fatalf("bucket %d: [%d, %d] up to %d, want [%d, %d] up to %d",
						i, x.low[i], x.high[i], x.cumulative[i], b[0], b[1], sum)
				}
			}
		})
	}
}

func TestEncodeHistogramWritesWhatJavaCompresses(t *testing.T) {
	for _, g := range hdrReadGolden(t) {
		t.Run(g.name, func(t *testing.T) {
			encoded, err := Encode(g.histogram(t))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(encoded, "HISTF") {
				t.Errorf("encoded text begins %.9q", encoded)
			}
			if !bytes.Equal(hdrInflate(t, encoded), hdrInflate(t, g.encoded)) {
				t.Error("the bytes below the compression differ from Java's")
			}
		})
	}
}

func TestRankIndexAgreesWithJava(t *testing.T) {
	for _, g := range hdrReadGolden(t) {
		t.Run(g.name, func(t *testing.T) {
			x := NewRankIndex(g.histogram(t))
			if x.Count() != g.total {
				t.Errorf("count %d, want %d", x.Count(), g.total)
			}
			if x.Max() != g.max {
				t.Errorf("max %d, want %d", x.Max(), g.max)
			}
			if got := x.Mean(); got != g.mean {
				t.Errorf("mean %v, want %v", got, g.mean)
			}
			if got := x.StdDev(); got != g.stddev {
				t.Errorf("standard deviation %v, want %v", got, g.stddev)
			}
			for _, p := range g.percentiles {
				percent, err := strconv.ParseFloat(p[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				got := x.Percentile(percent)
				if percent == 0 { // Java answers with the lower edge there
					got, _ = x.ValueAtRank(1)
				}
				if strconv.FormatInt(got, 10) != p[1] {
					t.Errorf("percentile %s is %d, want %s", p[0], got, p[1])
				}
			}
		})
	}
}

// TestPercentileTakesTheCeiling pins the reason not to use the library's own.
func TestPercentileTakesTheCeiling(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 3)
	for v := int64(1); v <= 7; v++ {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	// 60 % of 7 is 4.2: rank 5. Rounded it would be 4.
	if got := NewRankIndex(h).Percentile(60); got != 5 {
		t.Errorf("percentile 60 of 1 to 7 is %d, want 5", got)
	}
	if got := h.ValueAtPercentile(60); got != 4 {
		t.Logf("the library's ValueAtPercentile answers %d: it no longer rounds the rank", got)
	}
	for _, tt := range []struct {
		percent float64
		want    int64
	}{{-1, 1}, {0, 1}, {1e-300, 1}, {100, 7}, {101, 7}, {math.Inf(1), 7}, {math.NaN(), 7}, {math.Inf(-1), 1}} {
		if got := NewRankIndex(h).Percentile(tt.percent); got != tt.want {
			t.Errorf("percentile %v is %d, want %d", tt.percent, got, tt.want)
		}
	}
}

func TestRankIndexAgainstSortedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		digits := r.IntN(4) + 1
		lowest := int64(1) << r.IntN(12)
		highest := lowest*2 + r.Int64N(1<<uint(20+r.IntN(30)))
		h := hdrhistogram.New(lowest, highest, digits)
		for range r.IntN(300) {
			v := int64(math.Exp(r.Float64() * math.Log(float64(highest))))
			if err := h.RecordValues(min(v, highest), 1+r.Int64N(3)); err != nil {
				t.Fatal(err)
			}
		}
		x := NewRankIndex(h)
		var ranks int64
		for _, bar := range h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			for range bar.Count {
				ranks++
				low, high := x.ValueAtRank(ranks)
				if low != bar.From || high != bar.To {
					t.Fatalf("rank %d of New(%d, %d, %d): [%d, %d], want [%d, %d]",
						ranks, lowest, highest, digits, low, high, bar.From, bar.To)
				}
			}
			if got := x.CountAbove(bar.To); got != h.TotalCount()-ranks {
				t.Fatalf("%d values above %d, want %d", got, bar.To, h.TotalCount()-ranks)
			}
		}
		if ranks != x.Count() || x.Count() != h.TotalCount() {
			t.Fatalf("count %d, want %d", x.Count(), h.TotalCount())
		}
		if ranks > 0 && (x.Min() != h.Min() || x.Max() != h.Max()) {
			t.Fatalf("range %d to %d, want %d to %d", x.Min(), x.Max(), h.Min(), h.Max())
		}
		if got, want := x.Mean(), h.Mean(); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("mean %v, want about %v", got, want)
		}
		if got, want := x.StdDev(), h.StdDev(); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("standard deviation %v, want about %v", got, want)
		}
	}
}

func TestRankIndexOfAnEmptyHistogram(t *testing.T) {
	x := NewRankIndex(hdrhistogram.New(1, 1000, 3))
	low, high := x.ValueAtRank(1)
	if low != 0 || high != 0 || x.Count() != 0 || x.Min() != 0 || x.Max() != 0 || x.Mean() != 0 || x.StdDev() != 0 ||
		x.Percentile(50) != 0 || x.CountAbove(0) != 0 {
		t.Errorf("an empty histogram is not all zeros: %+v", x)
	}
}

func TestHdrRank(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	hundred := big.NewRat(100, 1)
	for range 20_000 {
		// A decimal percentile, and a count that often makes a whole rank.
		scale := int64(math.Pow10(r.IntN(8)))
		percent := big.NewRat(r.Int64N(100*scale)+1, scale)
		n := r.Int64N(1<<uint(r.IntN(62)+1)) + 1
		if r.IntN(2) == 0 {
			n = int64(math.Pow10(r.IntN(18)))
		}
		want := new(big.Rat).Quo(percent, hundred)
		want.Mul(want, new(big.Rat).SetInt64(n))
		ceil := new(big.Int).Add(want.Num(), new(big.Int).Sub(want.Denom(), big.NewInt(1)))
		ceil.Quo(ceil, want.Denom())
		p, _ := percent.Float64()
		if got := hdrRank(n, p); got != ceil.Int64() {
			t.Fatalf("rank of %v %% in %d is %d, want %d", p, n, got, ceil.Int64())
		}
	}
}

func TestHdrGeometryIsTheLibrarys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		digits := r.Int64N(5) // not 5: the library allocates 50 MB for the widest
		lowest := int64(1) << r.IntN(30)
		highest := r.Int64N(math.MaxInt64>>uint(r.IntN(60))) + 1
		if r.IntN(4) == 0 {
			highest = 1<<uint(r.IntN(63)) - r.Int64N(2)
		}
		g, err := hdrNewGeometry(lowest, highest, digits)
		if err != nil {
			t.Fatal(err)
		}
		s := hdrhistogram.Import(&hdrhistogram.Snapshot{
			LowestTrackableValue: lowest, HighestTrackableValue: highest, SignificantFigures: digits,
		}).Export()
		if int64(len(s.Counts)) != g.counts() {
			t.Fatalf("New(%d, %d, %d): %d counters, want %d", lowest, highest, digits, g.counts(), len(s.Counts))
		}
	}
}

func TestHdrFixedAgreesWithJava(t *testing.T) {
	n := 0
	for line := range strings.Lines(string(hdrReadFile(t, filepath.Join(hdrGoldenDir, "formats.txt")))) {
		f := strings.Fields(line)
		bits, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		decimals, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := hdrFixed(math.Float64frombits(bits), decimals); got != f[2] {
			t.Errorf("%v to %d decimals is %s, want %s", math.Float64frombits(bits), decimals, got, f[2])
		}
		n++
	}
	if n < 1000 {
		t.Errorf("only %d vectors", n)
	}
	for v, want := range map[float64]string{math.Inf(1): "Infinity", math.Inf(-1): "-Infinity"} {
		if got := hdrFixed(v, 3); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if got := hdrFixed(math.NaN(), 3); got != "NaN" {
		t.Errorf("NaN is %s", got)
	}
}

func BenchmarkRankIndex(b *testing.B) {
	h := hdrhistogram.New(1, 100e9, 3)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		if err := h.RecordValue(int64(80_000 * math.Exp(r.NormFloat64()))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		NewRankIndex(h).Percentile(99.9)
	}
}

// One encoder writes one text after the other as new ones would, and makes no compressor for each.
func TestEncoderIsUsedAgain(t *testing.T) {
	var e Encoder
	h := hdrhistogram.New(1, 1e9, 3)
	for range 3 {
		for _, v := range []int64{1, 5_000, 5_001, 900_000_000} {
			_ = h.RecordValue(v)
		}
		text, err := e.Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		if once, err := Encode(h); err != nil || once != text {
			t.Errorf("%v: another text than a new encoder's", err)
		}
		back, err := Decode(text)
		if err != nil || !back.Equals(h) {
			t.Errorf("%v: read back, it is another", err)
		}
	}
	again := testing.AllocsPerRun(20, func() { _, _ = e.Encode(h) })
	if first := testing.AllocsPerRun(20, func() { _, _ = Encode(h) }); again > first/2 {
		t.Errorf("%v allocations for one more, %v for a first", again, first)
	}
}
