package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sixnines/internal/histograms"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// encoded returns the values as a result file holds them.
func encoded(t testing.TB, values ...int64) string {
	t.Helper()
	return encodedIn(t, hdrhistogram.New(1, 10e9, 3), values...)
}

func encodedIn(t testing.TB, h *hdrhistogram.Histogram, values ...int64) string {
	t.Helper()
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := histograms.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func metricOf(t testing.TB, values ...int64) *MetricInterval {
	m := &MetricInterval{Hist: encoded(t, values...)}
	if len(values) > 0 {
		m.Min, m.Max = slices.Min(values), slices.Max(values)
	}
	return m
}

// file writes records as lines.
func file(t testing.TB, records ...any) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(headerLine)
	for _, r := range records {
		switch r := r.(type) {
		case string:
			b.WriteString(r)
			continue
		case *Interval:
			r.Type = typeInterval
		case *Summary:
			r.Type = typeSummary
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return &b
}

func TestLoadMergesIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []int64
	var records []any
	var counters Counters
	for i := range 5 {
		values := make([]int64, 1+rng.IntN(1000))
		for j := range values {
			values[j] = rng.Int64N(5e9)
		}
		all = append(all, values...)
		m := metricOf(t, values...)
		m.Slots = [][2]int64{{int64(i), 100}, {7, int64(i) * 10}, {int64(i / 2), 40}}
		m.Own = []OwnBand{{Band: 3, Count: 1, Own: 2, Total: 3, Majority: 4}, {Band: i, Count: 1}}
		c := Counters{Scheduled: int64(len(values)), Acked: int64(len(values)), Sent: int64(len(values))}
		counters.Add(c)
		records = append(records, &Interval{Phase: PhaseMeasure, Start: int64(i), End: int64(i + 1), Counters: c,
			Metrics: map[Metric]*MetricInterval{PublishResponse: m}, Pauses: []Pause{{Start: int64(i)}}, InFlight: int64(i), Backlog: 1})
	}
	closing := &MetricInterval{Hist: encoded(t), Censored: encoded(t, 4e9, 3e9)}
	records = append(records, &Interval{Phase: PhaseClosing, Metrics: map[Metric]*MetricInterval{PublishResponse: closing, LagOwn: nil}})
	run, err := ReadRun(file(t, records...))
	if err != nil {
		t.Fatal(err)
	}

	want := hdrhistogram.New(1, 10e9, 3)
	for _, v := range all {
		want.RecordValue(v)
	}
	x := run.Metrics[PublishResponse]
	if !x.Hist.counts.Equals(want) {
		t.Error("the merged histogram is not the histogram of all values")
	}
	if x.Min != slices.Min(all) || x.Max != slices.Max(all) {
		t.Errorf("extremes %d, %d", x.Min, x.Max)
	}
	if x.Censored.Count() != 2 {
		t.Errorf("%d censored, want 2", x.Censored.Count())
	}
	if want := []int64{100, 100, 100, 100, 100, 0, 0, 40}; !slices.Equal(x.Slots, want) {
		t.Errorf("slots %v, want %v", x.Slots, want)
	}
	if len(x.Own) != histograms.Bands || x.Own[3] != (OwnBand{Band: 3, Count: 6, Own: 10, Total: 15, Majority: 20}) || x.Own[4].Count != 1 || x.Own[5] != (OwnBand{Band: 5}) {
		t.Errorf("own %v", x.Own[:6])
	}
	if run.Counters != counters || len(run.Pauses) != 5 || len(run.Series) != 6 {
		t.Errorf("counters %+v, %d pauses, %d points", run.Counters, len(run.Pauses), len(run.Series))
	}
	if len(run.Metrics) != 1 || run.Summary != nil || run.Damaged != "" {
		t.Errorf("metrics %v, summary %v, damage %q", run.Metrics, run.Summary, run.Damaged)
	}
	if p := run.Series[5]; len(p.Metrics) != 0 {
		t.Errorf("the closing point has figures: %+v", p)
	}
}

func TestPointsHaveTheirOwnPercentiles(t *testing.T) {
	values := make([]int64, 1000)
	for i := range values {
		values[i] = int64(i + 1) // exact in a histogram of three digits
	}
	run, err := ReadRun(file(t, &Interval{Metrics: map[Metric]*MetricInterval{LagOwn: metricOf(t, values...)}}))
	if err != nil {
		t.Fatal(err)
	}
	want := PointMetric{Count: 1000, Min: 1, P50: 500, P90: 900, P99: 990, P999: 999, Max: 1000}
	if got := run.Series[0].Metrics[LagOwn]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	run, err = ReadRun(file(t, &Interval{Metrics: map[Metric]*MetricInterval{LagOwn: metricOf(t, 1_000_001)}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Series[0].Metrics[LagOwn]; got.P999 != 1_000_001 {
		t.Errorf("a percentile of one value is %d, beyond its maximum", got.P999)
	}
}

func TestLoadRefuses(t *testing.T) {
	one := func(m *MetricInterval) *Interval {
		return &Interval{Metrics: map[Metric]*MetricInterval{PublishResponse: m}}
	}
	many := &Interval{Metrics: map[Metric]*MetricInterval{}}
	for i := range maxMetrics + 1 {
		many.Metrics[Metric(fmt.Sprint(i))] = &MetricInterval{}
	}
	wide := hdrhistogram.New(1, 1e9, 3)
	fine := hdrhistogram.New(1, 10e9, 4)
	tests := []struct {
		name    string
		records []any
		want    string
	}{
		{"another geometry", []any{one(metricOf(t, 5)), one(&MetricInterval{Hist: encodedIn(t, wide, 5)})}, "buckets cannot be added"},
		{"another geometry of the censored", []any{one(metricOf(t, 5)), one(&MetricInterval{Censored: encodedIn(t, wide, 5)})}, "censored: histogram of"},
		{"too many digits", []any{one(&MetricInterval{Hist: encodedIn(t, fine, 5)})}, "4 significant digits"},
		{"no histogram", []any{one(&MetricInterval{Hist: "AAAA"})}, "decode histogram"},
		{"a negative slot", []any{one(&MetricInterval{Slots: [][2]int64{{-1, 5}}})}, "slot -1"},
		{"a slot beyond all", []any{one(&MetricInterval{Slots: [][2]int64{{1 << 60, 5}}})}, "slot 1152921504606846976"},
		{"slots of a metric that has none", []any{&Interval{Metrics: map[Metric]*MetricInterval{LagOwn: {Slots: [][2]int64{{0, 5}}}}}}, "slot 0 is not among the 0"},
		{"a negative band", []any{one(&MetricInterval{Own: []OwnBand{{Band: -1}}})}, "band -1"},
		{"a band beyond all", []any{one(&MetricInterval{Own: []OwnBand{{Band: histograms.Bands}}})}, "band 488"},
		{"too many of the slowest", []any{&Interval{Tail: make([]Exemplar, maxTail)}, &Interval{Tail: make([]Exemplar, 1)}}, "more than 4096 slowest"},
		{"too many metrics", []any{many}, "more than 32 metrics"},
		{"two summaries", []any{&Summary{}, &Summary{}}, "after the summary"},
		{"an interval after the summary", []any{&Summary{}, &Interval{}}, "line 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadRun(file(t, tt.records...))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSlotsAreBoundedByTheWindow(t *testing.T) {
	h := Header{Window: 10e9, Slot: 100e6}
	if h.slots() != 101 {
		t.Errorf("%d slots of 100 ms in 10 s, the end's included", h.slots())
	}
	h.Slot = 1
	if h.slots() != maxSlots {
		t.Errorf("%d slots of a nanosecond", h.slots())
	}
}

// FuzzLoad: whatever the input, Load ends without a panic, and a run that it
// returns is sound enough to index.
func FuzzLoad(f *testing.F) {
	f.Add(file(f, &Interval{Metrics: map[Metric]*MetricInterval{DeliveryResponse: metricOf(f, 1, 2, 3)}}).Bytes())
	f.Add(file(f, &Interval{Phase: PhaseMeasure, End: 4e8, Metrics: map[Metric]*MetricInterval{DeliveryResponse: metricOf(f, 1, 2, 3)},
		Tail: []Exemplar{{Metric: DeliveryResponse, Value: 3, Consumer: -1, Partition: -1, Done: 3}}, Pauses: []Pause{{Start: 1, End: 2, Source: PauseGC}}}).Bytes())
	seedVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		run, err := ReadRun(bytes.NewReader(b))
		if err != nil {
			return
		}
		for name, m := range run.Metrics {
			if m == nil {
				t.Fatalf("metric %q is nil", name)
			}
			if m.Own != nil && len(m.Own) != histograms.Bands {
				t.Fatalf("metric %q has %d bands", name, len(m.Own))
			}
			blocks, _ := run.Blocks(name)
			if len(blocks) > maxBlocks || len(run.Tail) > maxTail {
				t.Fatalf("%d blocks, %d of the slowest", len(blocks), len(run.Tail))
			}
			for i := range blocks {
				if n := blocks[i].Above(0); n < 0 {
					t.Fatalf("block %d has %d values above 0", i, n)
				}
			}
		}
	})
}
