package judge

import (
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/result"
)

func mergedOf(h *hdr.Histogram) *result.Merged {
	x := result.NewHistogram(h.LowestTrackableValue(), h.HighestTrackableValue(), int(h.SignificantFigures()))
	histograms.Visit(h, func(_, high, n int64) { _ = x.Record(high, n) })
	return &result.Merged{Hist: x, Min: x.Min(), Max: x.Max()}
}

// The example of HdrHistogram's own tests: 10,000 values of 1 ms, one every 10 ms, and
// then one of 100 s (HistogramDataAccessTest; in µs).
func TestCorrectedIsHdrHistogramsExample(t *testing.T) {
	h := hdr.New(1, 3_600_000_000, 3)
	if err := h.RecordValues(1000, 10_000); err != nil {
		t.Fatal(err)
	}
	if err := h.RecordValue(100_000_000); err != nil {
		t.Fatal(err)
	}
	x := Corrected(mergedOf(h), 10_000)
	if n := x.Hist.Count(); n != 20_000 {
		t.Errorf("%d values, want 20,000", n)
	}
	for p, want := range map[float64]int64{30: 1000, 50: 1000, 75: 50_000_000, 90: 80_000_000, 99: 98_000_000, 99.999: 100_000_000, 100: 100_000_000} {
		if got := x.Hist.Percentile(p); float64(got) < 0.999*float64(want) || float64(got) > 1.001*float64(want) {
			t.Errorf("p%g is %d, want %d", p, got, want)
		}
	}
	if h.TotalCount() != 10_001 {
		t.Error("the raw histogram was changed")
	}
}

// It is what HdrHistogram records of the same values, each as the greatest of its
// bucket.
func TestCorrectedIsHdrHistograms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		digits := 2 + random.IntN(2)
		interval := 1 + random.Int64N(1<<(4+random.IntN(18)))
		h, want := hdr.New(1, 1<<40, digits), hdr.New(1, 1<<40, digits)
		for range 200 {
			if err := h.RecordValue(random.Int64N(interval * (1 + random.Int64N(2000)))); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range h.Distribution() {
			for range b.Count {
				if err := want.RecordCorrectedValue(b.To, interval); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := Corrected(mergedOf(h), interval).Hist; !histograms.Of(got).Equals(want) {
			t.Fatalf("interval %d, %d digits: %d values, HdrHistogram has %d", interval, digits, got.Count(), want.TotalCount())
		}
	}
}

func TestNothingIsCorrected(t *testing.T) {
	h := hdr.New(1, 1000, 3)
	if Corrected(mergedOf(h), 10) != nil || Corrected(nil, 10) != nil {
		t.Error("of no values some are made")
	}
	if err := h.RecordValue(500); err != nil {
		t.Fatal(err)
	}
	if Corrected(mergedOf(h), 0) != nil {
		t.Error("no interval corrects")
	}
}
